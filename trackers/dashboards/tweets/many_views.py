"""The page that says how many tweets were chosen, and asks what to do with them; and the progress
of what the workers do with very many."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import needs
from trackers.dashboards.parts import render_parts
from trackers.dashboards.tweets.chosen_tweets import count_in_time, read_chosen
from trackers.dashboards.tweets.many_acts import get_bulk_act, tweets_in_words
from trackers.dashboards.words import ago, commas
from trackers.schedule.acts import CHANGE_TWEET, TWEET_ACTS, WITH_TAG
from trackers.schedule.bulk import TWEETS_PER_PIECE
from trackers.schedule.intervals import current
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import offered_tags
from trackers.tweets.tags.tagging import tags_of

_MAX_TWEETS_NAMED = 50


@require_safe
@needs(CHANGE_TWEET)
def many_tweets(request: HttpRequest) -> HttpResponse:
    asked = read_chosen(request.GET)
    now, _ = current()
    tweets = asked.tweets(now=now)
    count = count_in_time(tweets)
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
        "how_many": tweets_in_words(count),
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
    act = get_bulk_act(id)
    now, _ = current()
    parts = {"progress": lambda: _progress_context(act, now=now)}
    shared = {"now": now, "act": act}
    return render_parts(request, "dashboards/tweets/progress.html", parts, shared=shared)


def _progress_context(act: BulkAct, *, now: datetime) -> dict[str, Any]:
    tag = Tag.objects.live().filter(pk=act.tag).first() if act.tag else None
    return {
        "tag": tag,
        "seen": commas(act.seen),
        "tweets": tweets_in_words(act.tweets),
        "done": commas(act.done),
        "begun": ago(act.begun_at, now=now),
        "ended": ago(act.finished_at, now=now) if act.finished_at else None,
    }
