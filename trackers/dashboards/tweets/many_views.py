"""The page that says how many tweets were chosen, and asks what to do with them; and the progress
of what the workers do with very many."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import needs
from trackers.dashboards.parts import show
from trackers.dashboards.tweets.chosen import chosen, how_many
from trackers.dashboards.tweets.many_acts import find_begun, of_tweets
from trackers.dashboards.words import ago, counted
from trackers.schedule.acts import ACTS, CHANGE, WITH_TAG
from trackers.schedule.bulk import PIECE
from trackers.schedule.intervals import current
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import offered
from trackers.tweets.tags.tagging import tags_of

NAMED_MOST = 50


@require_safe
@needs(CHANGE)
def many(request: HttpRequest) -> HttpResponse:
    asked = chosen(request.GET)
    now, _ = current()
    tweets = asked.tweets(now=now)
    count = how_many(tweets)
    some = (
        list(tweets.select_related("author", "tweettext").order_by("-pk")[:NAMED_MOST])
        if not asked.is_all
        else []
    )
    tags = tags_of([tweet.pk for tweet in some])
    shown = {
        "now": now,
        "asked": asked,
        "count": count,
        "how_many": of_tweets(count),
        "by_workers": count is None or count > PIECE,
        "some": [(tweet, tags.get(tweet.pk, [])) for tweet in some],
        "acts": [
            (name, act)
            for name, act in ACTS.items()
            if name not in WITH_TAG and request.user.has_perm(act.permission)
        ],
        "offered": offered(),
    }
    return render(request, "dashboards/tweets/many.html", shown)


@require_safe
@needs(CHANGE)
def progress(request: HttpRequest, id: int) -> HttpResponse:
    act = find_begun(id)
    now, _ = current()
    parts = {"progress": lambda: how_far(act, now=now)}
    shared = {"now": now, "act": act}
    return show(request, "dashboards/tweets/progress.html", parts, shared=shared)


def how_far(act: BulkAct, *, now: datetime) -> dict[str, Any]:
    tag = Tag.objects.live().filter(pk=act.tag).first() if act.tag else None
    return {
        "tag": tag,
        "seen": counted(act.seen),
        "tweets": of_tweets(act.tweets),
        "done": counted(act.done),
        "begun": ago(act.begun_at, now=now),
        "ended": ago(act.finished_at, now=now) if act.finished_at else None,
    }
