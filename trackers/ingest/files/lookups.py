"""What X says of an import's tweets, by year: shown, not found, hidden; until all are looked up.

imports that are done ─> the next 20,000 tweets at a time ─> Import.lookups, which pages read
A count of a large one is repeated rarely: after a hundred times as long as it took.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from django.db.models import Q

from trackers.ingest.files.models import Import
from trackers.tweets.presence import Presence, Presences
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline
from tweetwatch.statements import statement

_SHOWN = statement(__file__, "shown")
_A_PIECE = 20_000
# Of a small import the page counts itself.
COUNTED_AT_ONCE = 2000
_REST = 100
# X does not show a tweet again and again: what is found after this is in the list of tweets.
_FOLLOWED_FOR = timedelta(days=60)
_UNASKED = ("paused", "dated", "waiting")


@dataclass(slots=True)
class Lookups:
    """Tweets by what X said of them: by year (as JSON has it), then by presence; those that are
    unasked are `paused` until resumed, `dated` where the file measured them, or `waiting`."""

    years: dict[str, dict[str, int]] = field(default_factory=dict)

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

    def count_piece(self, source: int, *, most: int) -> None:
        began = time.monotonic()
        with cursor() as db:
            params = {"source": source, "after": self.after, "most": most}
            rows = db.execute(_SHOWN, params).fetchall()
        self.took += time.monotonic() - began
        self.is_over = not rows
        for last, year, name, count in rows:
            self.after = max(self.after, last)
            if name is not None:
                self.total.add(year, name, count)


def count_lookups(source: int, *, most: int) -> Lookups:
    """Of the first tweets of an import."""
    counting = Counting(Lookups())
    counting.count_piece(source, most=most)
    return counting.total


def lookups_of(report: Import) -> Lookups | None:
    """As last counted; None where that is still to come."""
    if report.tracked + report.already <= COUNTED_AT_ONCE:
        return count_lookups(report.pk, most=COUNTED_AT_ONCE)
    return Lookups(**report.lookups) if report.lookups else None


def update_lookups(*, now: datetime, deadline: Deadline) -> int:
    """Count the imports that are followed and whose count is old; returns how many. What a large
    one lacks when time is up is counted by the next run."""
    followed = Import.objects.filter(ended_at__gt=now - _FOLLOWED_FOR).filter(
        Q(lookups_due_at=None) | Q(lookups_due_at__lt=now)
    )
    counted = 0
    for report in followed.order_by("lookups_due_at", "pk"):
        counting = _resumed(report)
        while not (counting.is_over or deadline.is_over):
            counting.count_piece(report.pk, most=_A_PIECE)
        if not counting.is_over:
            Import.objects.filter(pk=report.pk).update(lookups_counting=asdict(counting))
            break
        rest = timedelta(seconds=_REST * counting.took)
        Import.objects.filter(pk=report.pk).update(
            lookups=asdict(counting.total),
            lookups_at=now,
            lookups_due_at=now + rest,
            lookups_counting=None,
        )
        counted += 1
    return counted


def _resumed(report: Import) -> Counting:
    if report.lookups_counting is None:
        return Counting(Lookups())
    kept = dict(report.lookups_counting)
    return Counting(Lookups(**kept.pop("total")), **kept)
