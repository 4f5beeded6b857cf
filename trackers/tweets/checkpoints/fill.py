"""Checkpoints of what was measured before they were kept, from stored samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.core.cache import cache
from django.db import transaction

from trackers.tweets.checkpoints.ages import AGES_S, MAX_FACTOR
from trackers.tweets.history import EVERY_RUN
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor
from tweetwatch.pieces import wait_for_work
from tweetwatch.statements import statement

_WORK = "filling checkpoints"
# Losing it means that filled tweets are looked through once more.
_REACHED = "checkpoints-filled-up-to"
_TWEETS_PER_PIECE = 1_000
_FILL = statement(
    __file__,
    "fill",
    every_run=EVERY_RUN,
    ages=f"ARRAY[{', '.join(f'{age:.0f}' for age in AGES_S)}]",
    factor=MAX_FACTOR,
    counts=", ".join(
        f"trackers_count_between_v1(low[{place}], high[{place}], share) AS {metric}"
        for place, metric in enumerate(METRICS, 1)
    ),
    arrays=", ".join(
        f"array_agg({metric}{'' if metric == 'views' else '::int'} ORDER BY age)"
        for metric in METRICS
    ),
    appended=", ".join(f"{metric} = packed.{metric} || excluded.{metric}" for metric in METRICS),
)


@dataclass(frozen=True, slots=True)
class FilledPiece:
    tweets: int  # looked through
    checkpoints: int  # added


def fill_checkpoints(*, from_first: bool = False) -> Iterator[FilledPiece]:
    """All tweets in pieces, each in its own transaction, from where the last run ended. What is
    known already stays as it is. Several at once take turns."""
    if from_first:
        cache.delete(_REACHED)
    while True:
        with transaction.atomic():
            wait_for_work(_WORK)
            params = {"after": cache.get(_REACHED, 0), "most": _TWEETS_PER_PIECE}
            with cursor() as db:
                row = db.execute(_FILL, params).fetchone()
            assert row is not None
            reached, tweets, checkpoints = row
            if reached is None:
                cache.delete(_REACHED)
                return
            cache.set(_REACHED, reached, None)
        yield FilledPiece(tweets, checkpoints)
