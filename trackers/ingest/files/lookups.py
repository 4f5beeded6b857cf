"""What X says of an import's tweets: shown, not found, hidden; counted until all are looked up.

imports that are done ─> the next 20,000 tweets at a time ─> Import.lookups, which pages read
A count of a large one is repeated rarely: after a hundred times as long as it took.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from trackers.ingest.sources.models import Import
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


@dataclass(slots=True)
class Lookups:
    """Tweets by what X said of them."""

    tweets: int = 0
    not_found: int = 0
    hidden: int = 0  # of protected or suspended accounts
    unexplained: int = 0
    shown: int = 0
    paused: int = 0  # not looked up until resumed
    dated: int = 0  # measured by the file, and not looked up yet
    waiting: int = 0

    @property
    def is_over(self) -> bool:
        return not self.waiting


def count_lookups(source: int, *, most: int | None = None) -> Lookups:
    """Of the tweets of an import, or the first of them."""
    total, after = Lookups(), 0
    names = list(asdict(total))
    with cursor() as db:
        while most is None or total.tweets < most:
            params = {"source": source, "after": after, "most": min(most or _A_PIECE, _A_PIECE)}
            row = db.execute(_SHOWN, params).fetchone()
            if row is None or row[0] is None:
                break
            after = row[0]
            for name, count in zip(names, row[1:], strict=True):
                setattr(total, name, getattr(total, name) + count)
    return total


def lookups_of(report: Import) -> Lookups | None:
    """As last counted; None where that is still to come."""
    if report.tracked + report.already <= COUNTED_AT_ONCE:
        return count_lookups(report.pk, most=COUNTED_AT_ONCE)
    return Lookups(**report.lookups) if report.lookups else None


def update_lookups(*, now: datetime, deadline: Deadline) -> int:
    """Count the imports that are followed and whose count is old; returns how many."""
    followed = Import.objects.filter(ended_at__gt=now - _FOLLOWED_FOR).filter(
        Q(lookups_due_at=None) | Q(lookups_due_at__lt=now)
    )
    counted = 0
    for report in followed.order_by("lookups_due_at", "pk"):
        began = time.monotonic()
        total = count_lookups(report.pk)
        rest = timedelta(seconds=_REST * (time.monotonic() - began))
        Import.objects.filter(pk=report.pk).update(
            lookups=asdict(total), lookups_at=now, lookups_due_at=now + rest
        )
        counted += 1
        if deadline.is_over:
            break
    return counted
