"""The schedule ahead: how many keys of a queue are due in each minute of the next hour.

a cluster, every minute ─ take ─> a row for each queue ─ ahead ─> the overview
Up to _MAX_WALKED_KEYS are walked, the soonest first. Where the hour has more, the counts end
earlier and say when. While no cluster runs, each reader walks fewer itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from trackers.jobs.observed.models import ScheduleAhead
from trackers.jobs.statistics import DATABASE_NOW, PAUSE_FACTOR
from trackers.jobs.tables import on, queue_statement
from tweetwatch.database import cursor

# A few more than an hour has, so that a row of some minutes ago still covers one.
MINUTES_AHEAD = 64
_MAX_WALKED_KEYS = 100_000
_MAX_WALKED_KEYS_FOR_PAGE = 10_000
_TAKEN_EVERY = timedelta(minutes=1)
# An older row is from a cluster that has ended.
_FRESH_FOR = timedelta(minutes=3)

_COUNT_AHEAD = queue_statement(__file__, "ahead")


@dataclass(frozen=True, slots=True)
class Ahead:
    taken_at: datetime
    counts: Sequence[int]  # by minute, from the one of `taken_at` on
    # The walk ended here, with more keys to come; None: all minutes are counted.
    ends_at: datetime | None = None

    def next_minutes(self, number: int, *, now: datetime) -> list[int | None]:
        """From the minute of `now` on; None where nobody counted."""
        first = minute_of(self.taken_at)
        passed = max(0, (minute_of(now) - first) // timedelta(minutes=1))
        known = len(self.counts)
        if self.ends_at:
            known = min(known, (minute_of(self.ends_at) - first) // timedelta(minutes=1) + 1)
        return [
            self.counts[place] if place < known else None
            for place in range(passed, passed + number)
        ]


def read_ahead(queue: str) -> Ahead:
    """What a cluster last counted; if none counts, as far as can be counted quickly now."""
    row = ScheduleAhead.objects.annotate(now=DATABASE_NOW).filter(pk=queue).first()
    if (
        row
        and row.taken_at
        and row.now - row.taken_at <= max(_FRESH_FOR, 2 * PAUSE_FACTOR * row.took)
    ):
        return Ahead(row.taken_at, row.counts, row.ends_at)
    return count_ahead(queue, most=_MAX_WALKED_KEYS_FOR_PAGE)


def record_ahead(queue: str) -> bool:
    """Count for all readers; False if another cluster does, or the last count is recent."""
    last, _ = ScheduleAhead.objects.get_or_create(pk=queue)
    pause = max(_TAKEN_EVERY, PAUSE_FACTOR * last.took)
    with transaction.atomic():
        # Lock: this row alone. Skip it if it is locked: another cluster is counting.
        row = (
            ScheduleAhead.objects.select_for_update(skip_locked=True)
            .filter(Q(taken_at=None) | Q(taken_at__lte=DATABASE_NOW - pause), pk=queue)
            .first()
        )
        if row is None:
            return False
        began = time.monotonic()
        ahead = count_ahead(queue, most=_MAX_WALKED_KEYS)
        row.taken_at, row.counts, row.ends_at = ahead.taken_at, [*ahead.counts], ahead.ends_at
        row.took = timedelta(seconds=time.monotonic() - began)
        row.save()
    return True


def count_ahead(queue: str, *, most: int) -> Ahead:
    with cursor() as db:
        rows = db.execute(
            on(queue, _COUNT_AHEAD), {"minutes": MINUTES_AHEAD, "most": most}
        ).fetchall()
        [at] = db.execute("SELECT now()").fetchone() or (None,)
    assert at is not None
    counts = [0] * MINUTES_AHEAD
    for _, place, live, _, _ in rows:
        counts[place] = live
    is_cut_off = sum(walked for *_, walked, _ in rows) >= most
    return Ahead(rows[0][0] if rows else at, counts, rows[-1][4] if is_cut_off else None)


def minute_of(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)
