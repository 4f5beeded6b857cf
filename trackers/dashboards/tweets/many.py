"""What a person does to many tweets of the list: at once, or, of many, by the workers.

the list ─ ticked, or all that match ─> their number, and what to do ─ POST ─┬─> done, and said
                                                                              └─> a BulkAct
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from trackers.acts import Act
from trackers.dashboards.access import needs, require_permission
from trackers.dashboards.parts import render_parts
from trackers.dashboards.tweets.acts import back_to_list, chosen_tag
from trackers.dashboards.words import ago, commas
from trackers.history import on_page
from trackers.listing.matching import matching_tweets
from trackers.listing.query import TweetQuery, parse_query
from trackers.schedule import acts, bulk
from trackers.schedule.acts import CHANGE_TWEET, TWEET_ACTS, WITH_TAG
from trackers.schedule.bulk import TWEETS_PER_PIECE
from trackers.schedule.intervals import current
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName, offered_tags
from trackers.tweets.tags.tagging import tags_of
from tweetwatch.amounts import amount
from tweetwatch.time_limits import TookTooLong, limit_time

# A page has fifty boxes.
_MAX_TICKED = 1000
# Somebody waits for the number.
_MAX_COUNTING_TIME = timedelta(seconds=5)
_MAX_TWEETS_NAMED = 50
# For recording which of millions they are.
_MAX_CHOOSING_TIME = timedelta(seconds=20)
_TOO_MANY = (
    "Finding all tweets that match took too long, and nothing was done. Choose an author, a "
    "source, a tag or a period as well, and do it for each."
)
_NONE_CHOSEN = "No tweets were chosen. Tick some, or choose all that match."


@dataclass(frozen=True, slots=True)
class ChosenTweets:
    ids: tuple[int, ...]  # ticked ones; with `is_all` they do not count
    wanted: TweetQuery  # the list that they are from, and to which the person returns
    is_all: bool = False

    def tweets(self, *, now: datetime) -> QuerySet[Tweet]:
        if self.is_all:
            return matching_tweets(self.wanted, now=now)
        return Tweet.objects.filter(pk__in=self.ids)

    @property
    def query(self) -> str:
        """The query of the list."""
        return self.wanted.address()

    @property
    def address(self) -> str:
        """The query of the page that asks what to do with them."""
        if self.is_all:
            return urlencode({"all": "1", "query": self.query})
        return urlencode([*(("ids", id) for id in self.ids), ("query", self.query)])


def _read_chosen(form: QueryDict) -> ChosenTweets:
    """Nonsense is ignored."""
    ids = [int(id) for id in form.getlist("ids")[:_MAX_TICKED] if re.fullmatch(r"\d{1,19}", id)]
    return ChosenTweets(
        tuple(dict.fromkeys(id for id in ids if id <= LARGEST_ID)),
        parse_query(QueryDict(form.get("query", "")[:2000])),
        is_all=form.get("all") == "1",
    )


def _count_in_time(tweets: QuerySet[Tweet]) -> int | None:
    """None where it takes too long to wait for."""
    try:
        with limit_time(_MAX_COUNTING_TIME):
            return tweets.count()
    except TookTooLong:
        return None


@require_safe
@needs(CHANGE_TWEET)
def many_tweets(request: HttpRequest) -> HttpResponse:
    asked = _read_chosen(request.GET)
    now, _ = current()
    tweets = asked.tweets(now=now)
    count = _count_in_time(tweets)
    some = (
        list(tweets.select_related("author", "tweettext").order_by("-pk")[:_MAX_TWEETS_NAMED])
        if not asked.is_all
        else []
    )
    tags = tags_of([tweet.pk for tweet in some])
    context = {
        "now": now,
        "asked": asked,
        "count": count,
        "how_many": _tweets_in_words(count),
        "by_workers": count is None or count > TWEETS_PER_PIECE,
        "some": [(tweet, tags.get(tweet.pk, [])) for tweet in some],
        "acts": [
            (name, act)
            for name, act in TWEET_ACTS.items()
            if name not in WITH_TAG and request.user.has_perm(act.permission)
        ],
        "offered": offered_tags(),
    }
    return render(request, "dashboards/tweets/many.html", context)


@require_safe
@needs(CHANGE_TWEET)
def bulk_progress(request: HttpRequest, id: int) -> HttpResponse:
    act = _get_bulk_act(id)
    now, _ = current()
    parts = {"progress": lambda: _progress_context(act, now=now)}
    shared = {"now": now, "act": act}
    return render_parts(request, "dashboards/tweets/progress.html", parts, shared=shared)


def _progress_context(act: BulkAct, *, now: datetime) -> dict[str, Any]:
    tag = Tag.objects.live().filter(pk=act.tag).first() if act.tag else None
    return {
        "tag": tag,
        "seen": commas(act.seen),
        "tweets": _tweets_in_words(act.tweets),
        "done": commas(act.done),
        "begun": ago(act.begun_at, now=now),
        "ended": ago(act.finished_at, now=now) if act.finished_at else None,
    }


@require_POST
@needs(acts.CHANGE_TWEET)
def act_on_many(request: HttpRequest) -> HttpResponse:
    asked, name = _read_chosen(request.POST), request.POST.get("act", "")
    act = acts.TWEET_ACTS.get(name)
    if act is None:
        raise Http404(f"There is no action {name[:40]!r} for tweets.")
    require_permission(request, act.permission)
    if not (asked.ids or asked.is_all):
        messages.error(request, _NONE_CHOSEN)
        return back_to_list(asked.query)
    now, _ = current()
    if act.asks and request.POST.get("sure") != "yes":
        return _confirm_bulk_act(request, asked, name, act, now=now)
    also: dict[str, Tag] = {}
    try:
        if name in acts.WITH_TAG:
            also["tag"] = chosen_tag(name, request.POST.get("tag", ""))
    except InvalidTagName as wrong:
        messages.error(request, str(wrong))
        return redirect(f"{reverse('tweets-many')}?{asked.address}")
    try:
        with limit_time(_MAX_CHOOSING_TIME):
            return _do_now_or_begin(request, asked, name, also, now=now)
    except TookTooLong:
        messages.error(request, _TOO_MANY)
        return back_to_list(asked.query)


def _do_now_or_begin(
    request: HttpRequest, asked: ChosenTweets, name: str, also: dict[str, Tag], *, now: datetime
) -> HttpResponseRedirect:
    actor, tweets = on_page(request.user), asked.tweets(now=now).order_by()
    few = list(tweets.only("pk")[: TWEETS_PER_PIECE + 1])
    if len(few) > TWEETS_PER_PIECE:
        begun = acts.begin_bulk_act(name, tweets.values_list("pk"), actor, **also)
        return redirect("tweets-progress", begun.pk)
    done = acts.TWEET_ACTS[name].do(few, actor, **also)
    (messages.success if done.is_done else messages.warning)(request, done.message)
    return back_to_list(asked.query)


def _confirm_bulk_act(
    request: HttpRequest, asked: ChosenTweets, name: str, act: Act, *, now: datetime
) -> HttpResponse:
    """The page that makes sure, with the number."""
    count = _count_in_time(asked.tweets(now=now))
    assert act.asks is not None
    context = {
        "now": now,
        "asked": asked,
        "act": name,
        "choice": act,
        "question": act.asks(_tweets_in_words(count)),
        "by_workers": count is None or count > TWEETS_PER_PIECE,
    }
    return render(request, "dashboards/tweets/sure.html", context)


@require_POST
@needs(acts.CHANGE_TWEET)
def stop_act(request: HttpRequest, id: int) -> HttpResponseRedirect:
    done = acts.stop_bulk_act(_get_bulk_act(id), on_page(request.user))
    (messages.success if done.is_done else messages.warning)(request, done.message)
    return redirect("tweets-progress", id)


def _get_bulk_act(id: int) -> BulkAct:
    begun = bulk.find_act(id)
    if begun is None:
        raise Http404(f"There is no bulk action {id}. Those that ended a month ago are gone.")
    return begun


def _tweets_in_words(count: int | None) -> str:
    if count is None:
        return "all tweets that match, which are too many to count while you wait,"
    return amount(count, "tweet")
