"""What X says of the tweets of a file or a tag, by year: shown, not found, hidden.

rows of that kind ─> the next 20,000 tweets of one at a time ─> its `lookups`, which pages read
A count of many is repeated rarely: after a hundred times as long as it took.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Q

from trackers.tweets.presence import Presence, Presences
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline
from tweetwatch.statements import statement

_A_PIECE = 20_000
# Of fewer the page counts itself.
COUNTED_AT_ONCE = 2000
_REST = 100
_UNASKED = ("paused", "dated", "waiting")


class LookupsCounted(models.Model):
    """The columns of a row that has tweets: what X says of these, as counted then, when to count
    again, and a count under way."""

    lookups = models.JSONField(null=True)
    lookups_at = models.DateTimeField(null=True)
    lookups_due_at = models.DateTimeField(null=True)
    lookups_counting = models.JSONField(null=True)

    class Meta:
        abstract = True


@dataclass(slots=True)
class Lookups:
    """Tweets by what X said of them: by year (as JSON has it), then by presence; those that are
    unasked are `paused` until resumed, `dated` where a file measured them, or `waiting`."""

    years: dict[str, dict[str, int]] = field(default_factory=dict)
    at: datetime | None = None  # None: just now

    def add(self, year: int, name: str, count: int) -> None:
        names = self.years.setdefault(str(year), {})
        names[name] = names.get(name, 0) + count

    def of(self, *names: str) -> int:
        return sum(by_name.get(name, 0) for by_name in self.years.values() for name in names)

    @property
    def tweets(self) -> int:
        return sum(sum(by_name.values()) for by_name in self.years.values())

    @property
    def hidden(self) -> int:
        return self.of(Presence.PROTECTED, Presence.SUSPENDED)

    @property
    def unexplained(self) -> int:
        return self.of(Presence.UNAUTHORIZED, Presence.UNAVAILABLE)

    @property
    def is_over(self) -> bool:
        return not self.of("waiting")

    @property
    def presences(self) -> Presences:
        """As of all tweets: what was not asked for is not told apart."""
        return {
            int(year): _with_unasked(by_name)
            for year, by_name in sorted(self.years.items(), key=lambda item: int(item[0]))
        }


def _with_unasked(by_name: Mapping[str, int]) -> dict[str, int]:
    unasked = sum(by_name.get(name, 0) for name in _UNASKED)
    answered = {name: count for name, count in by_name.items() if name not in _UNASKED}
    return {**answered, Presence.UNASKED: unasked} if unasked else answered


@dataclass(slots=True)
class Counting:
    """A count under way: up to which tweet, and the seconds it took so far."""

    total: Lookups
    after: int = 0
    took: float = 0.0
    is_over: bool = False

    def count_piece(self, sql: str, row: int, *, most: int) -> None:
        began = time.monotonic()
        with cursor() as db:
            params = {"row": row, "after": self.after, "most": most}
            rows = db.execute(sql, params).fetchall()
        self.took += time.monotonic() - began
        self.is_over = not rows
        for last, year, name, count in rows:
            self.after = max(self.after, last)
            if name is not None:
                self.total.add(year, name, count)


def counting_tweets(of: str, column: str) -> str:
    """The statement that counts a piece: the table says which tweets are of which row, by this
    column and `tweet_id`, which are its key."""
    return statement(__file__, "shown", of=of, column=column)


def known_lookups(sql: str, row: LookupsCounted, *, tweets: int) -> Lookups | None:
    """Of a row with about so many tweets: counted now if they are few, else as last counted; None
    where that is still to come."""
    if tweets <= COUNTED_AT_ONCE:
        counting = Counting(Lookups())
        counting.count_piece(sql, row.pk, most=COUNTED_AT_ONCE)
        return counting.total
    return Lookups(row.lookups["years"], at=row.lookups_at) if row.lookups else None


def update_counts(
    sql: str, rows: models.QuerySet[Any], *, now: datetime, deadline: Deadline
) -> int:
    """Count those of the rows whose count is old; returns how many. What one with many tweets lacks
    when time is up is counted by the next run."""
    due = rows.filter(Q(lookups_due_at=None) | Q(lookups_due_at__lt=now))
    counted = 0
    for row in due.order_by("lookups_due_at", "pk"):
        counting = _resumed(row)
        while not (counting.is_over or deadline.is_over):
            counting.count_piece(sql, row.pk, most=_A_PIECE)
        there = rows.model._default_manager.filter(pk=row.pk)
        if not counting.is_over:
            there.update(lookups_counting=asdict(counting))
            break
        rest = timedelta(seconds=_REST * counting.took)
        there.update(
            lookups=asdict(counting.total),
            lookups_at=now,
            lookups_due_at=now + rest,
            lookups_counting=None,
        )
        counted += 1
    return counted


def _resumed(row: LookupsCounted) -> Counting:
    if row.lookups_counting is None:
        return Counting(Lookups())
    kept = dict(row.lookups_counting)
    return Counting(Lookups(**kept.pop("total")), **kept)
