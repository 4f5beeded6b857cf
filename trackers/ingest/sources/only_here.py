"""The tweets that are removed with a source: those it brought first, and no other source brought.

What a person, a file or another source tracked before stays, even if this source brought it again.
So does what the source brought first under a name that it no longer has.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.schedule import bulk
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor

# Another source may bring one in the meantime: then it is no longer this source's alone.
_ELSEWHERE_TOO = """
    SELECT DISTINCT tweet_id FROM trackers_sourcetweet
    WHERE tweet_id = ANY(%(ids)s::bigint[]) AND source_id <> %(source)s
"""


def brought(source: Source) -> QuerySet[Any]:
    """All tweets that came from it and are still tracked."""
    theirs = SourceTweet.objects.filter(source=source).values("tweet_id")
    return Tweet.objects.filter(pk__in=theirs)


def only_here(source: Source) -> QuerySet[Any]:
    """Those that came from nowhere else, as far as is known.

    Which other sources brought a tweet is forgotten after three months (`prune`).
    """
    others = SourceTweet.objects.filter(tweet_id=OuterRef("pk")).exclude(source=source)
    return brought(source).filter(~Exists(others), came_from__in=_names_of(source))


def remove_with_tweets(source: Source, *, by: str) -> BulkAct | None:
    """Have the workers untrack those, then remove it; None if they are already doing so.

    Nothing more is read of it from now on.
    """
    try:
        with transaction.atomic():
            life.pause_sources([source.pk])
            chosen = only_here(source).values_list("pk")
            return bulk.begin_act(BulkAct.Act.UNTRACK, chosen, by=by, source=source.pk)
    except IntegrityError:
        return None


def _names_of(source: Source) -> set[str]:
    """How it was called where a tweet says what brought it first."""
    plain = Source(kind=source.kind, of=source.of)
    return {str(source)[:200], str(plain)[:200]}


def still_only_here(ids: list[int], source: int) -> list[int]:
    with cursor() as db:
        params = {"ids": ids, "source": source}
        others = {row[0] for row in db.execute(_ELSEWHERE_TOO, params)}
    return [id for id in ids if id not in others]
