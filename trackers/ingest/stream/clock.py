"""X's time while a stream is open: the time X gave as it opened, plus the seconds since.

The seconds are counted by the monotonic clock, and X's Date is checked against the database's: this
host's wall clock may be hours off, or be set meanwhile, and would end gaps in the wrong place.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.xapi.timelines import MOST_SKEW

# X cuts its Date to seconds: it may have opened the stream this much later.
DATES_ARE_CUT_TO = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class StreamClock:
    at: float  # seconds of time.monotonic()
    date: datetime | None  # X's clock then, None without a credible one
    ours: datetime  # the database's clock then

    def x_at(self, at: float) -> datetime:
        """X's time at a moment of time.monotonic(), or up to a second before it."""
        return (self.date or self.ours) + self._since(at)

    def ours_at(self, at: float) -> datetime:
        return self.ours + self._since(at)

    def x_now(self) -> datetime:
        return self.x_at(time.monotonic())

    @property
    def skew(self) -> timedelta | None:
        """The database's clock less X's, to half a second; None when X gave no time."""
        return self.ours - self.date - DATES_ARE_CUT_TO / 2 if self.date else None

    def _since(self, at: float) -> timedelta:
        return timedelta(seconds=at - self.at)


def clock_of(date: datetime | None, at: float, *, now: datetime, now_at: float) -> StreamClock:
    """`date`: X's, which came `at`; `now`: the database's clock at `now_at`, a little later."""
    ours = now - timedelta(seconds=now_at - at)
    believed = date is not None and abs(ours - date) <= MOST_SKEW
    return StreamClock(at, date if believed else None, ours)
