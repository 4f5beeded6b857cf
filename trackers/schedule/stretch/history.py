"""The stretches of the last day: a row a minute, so a page can say since when and how much.

update ─> StretchMinute ─ by_time ─> pages, `status`
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.schedule.models import Stretch
from tweetwatch.database import cursor

_RECORD_STRETCH = """
    INSERT INTO trackers_stretchminute AS one (minute, windows, money)
    VALUES (date_trunc('minute', %(at)s), %(windows)s, %(money)s)
    ON CONFLICT (minute) DO UPDATE SET
        windows = greatest(one.windows, excluded.windows),
        money = greatest(one.money, excluded.money)
"""
_PRUNE_STRETCHES = "DELETE FROM trackers_stretchminute WHERE minute < now() - interval '25 hours'"

_BY_TIME = """
    SELECT date_bin(%(step)s, minute, 'epoch'::timestamptz), max(windows), max(money)
    FROM trackers_stretchminute
    WHERE minute >= date_bin(%(step)s, now() - %(over)s, 'epoch'::timestamptz)
    GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class StretchSpan:
    """The largest stretches over a time."""

    at: datetime  # it begins then
    windows: float
    money: float


def record_stretch(row: Stretch) -> None:
    params = {"at": row.taken_at, "windows": row.windows, "money": row.money}
    with cursor() as db:
        db.execute(_RECORD_STRETCH, params)


def prune_stretches() -> int:
    with cursor() as db:
        return db.execute(_PRUNE_STRETCHES).rowcount


def by_time(*, over: timedelta, step: timedelta) -> list[StretchSpan]:
    """Oldest first, without steps in which nothing was computed."""
    with cursor() as db:
        return [StretchSpan(*row) for row in db.execute(_BY_TIME, {"over": over, "step": step})]
