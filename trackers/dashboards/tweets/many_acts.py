"""What a person does to many tweets of the list: at once, or, of many, by the workers.

the list ─ ticked, or all that match ─> their number, and what to do ─ POST ─┬─> done, and said
                                                                              └─> a BulkAct
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from trackers.acts import Act
from trackers.dashboards.access import needs, require_permission
from trackers.dashboards.tweets.acts import chosen_tag
from trackers.dashboards.tweets.chosen_tweets import ChosenTweets, count_in_time, read_chosen
from trackers.dashboards.tweets.list_acts import back_to_list
from trackers.dashboards.words import commas
from trackers.history import on_page
from trackers.schedule import acts, bulk
from trackers.schedule.bulk import TWEETS_PER_PIECE
from trackers.schedule.intervals import current
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName
from tweetwatch.time_limits import TookTooLong, limit_time

# For recording which of millions they are.
_MAX_CHOOSING_TIME = timedelta(seconds=20)
_TOO_MANY = (
    "Finding all tweets that match took too long, and nothing was done. Choose an author, a "
    "source, a tag or a period as well, and do it for each."
)
_NONE_CHOSEN = "No tweets were chosen. Tick some, or choose all that match."


@require_POST
@needs(acts.CHANGE_TWEET)
def act_on_many(request: HttpRequest) -> HttpResponse:
    asked, name = read_chosen(request.POST), request.POST.get("act", "")
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
    count = count_in_time(asked.tweets(now=now))
    assert act.asks is not None
    context = {
        "now": now,
        "asked": asked,
        "act": name,
        "choice": act,
        "question": act.asks(tweets_in_words(count)),
        "by_workers": count is None or count > TWEETS_PER_PIECE,
    }
    return render(request, "dashboards/tweets/sure.html", context)


@require_POST
@needs(acts.CHANGE_TWEET)
def stop_act(request: HttpRequest, id: int) -> HttpResponseRedirect:
    done = acts.stop_bulk_act(get_bulk_act(id), on_page(request.user))
    (messages.success if done.is_done else messages.warning)(request, done.message)
    return redirect("tweets-progress", id)


def get_bulk_act(id: int) -> BulkAct:
    begun = bulk.find_act(id)
    if begun is None:
        raise Http404(f"There is no bulk action {id}. Those that ended a month ago are gone.")
    return begun


def tweets_in_words(count: int | None) -> str:
    if count is None:
        return "all tweets that match, which are too many to count while you wait,"
    return f"{commas(count)} tweet{'' if count == 1 else 's'}"
