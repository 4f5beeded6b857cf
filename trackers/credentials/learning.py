"""What replies say about the window that their requests were reserved in, and about its cool-down.

Replies that say the same are learned in one statement; the others one by one, in the order X dated
them, so that what it said last wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from trackers.credentials.windows import OVER, UNDER_WAY_FOR, X_NOW, Reservation
from trackers.xapi.results import WindowSeen
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# X's longest window: no reset further ahead is believed.
_LONGEST_WINDOW = timedelta(days=1)

_SAID_AT = f"coalesce(%(seen_at)s::timestamptz, {X_NOW})"
_OVERTAKEN_BY = "interval '5 seconds'"
_STILL_LOST = """ARRAY(SELECT r FROM unnest(w.lost) r
                      WHERE r > statement_timestamp() - %(under_way_for)s::interval)"""
_SETTLE = statement(
    __file__,
    "settle",
    said_at=_SAID_AT,
    overtaken_by=_OVERTAKEN_BY,
    over=OVER,
    still_lost=_STILL_LOST,
)


# An app's 24 hours, of whichever of its tokens the reply is: within one day the lower count holds,
# though X's reset may differ by a second; an older reply says nothing. Locks: the apps' days, in
# the order of apps and endpoints.
_LEARN_APP_DAYS = f"""
    INSERT INTO trackers_appday AS d (app_id, endpoint, remaining, resets_at, seen_at, learned_at)
    SELECT DISTINCT ON (w.app_id, w.endpoint) w.app_id, w.endpoint, said.remaining,
           least(said.resets_at, said.seen_at + %(longest)s::interval), said.seen_at,
           statement_timestamp()
    FROM (
        SELECT id, remaining, resets_at, coalesce(seen_at, statement_timestamp()) AS seen_at
        FROM unnest(%(windows)s::bigint[], %(remaining)s::int[], %(resets_at)s::timestamptz[],
                    %(seen_at)s::timestamptz[]) AS said(id, remaining, resets_at, seen_at)
    ) said JOIN trackers_window w USING (id)
    ORDER BY w.app_id, w.endpoint, said.resets_at DESC, said.remaining
    ON CONFLICT (app_id, endpoint) DO UPDATE
    SET remaining = CASE
            WHEN abs(extract(epoch FROM excluded.resets_at - d.resets_at)) <= 2
            THEN least(d.remaining, excluded.remaining) ELSE excluded.remaining END,
        resets_at = excluded.resets_at, seen_at = excluded.seen_at,
        learned_at = excluded.learned_at
    WHERE excluded.resets_at >= d.resets_at - interval '2 seconds'
       OR excluded.seen_at > d.seen_at + {_OVERTAKEN_BY}
"""


# All windows first, in the order of ids, as in every statement that settles several: no deadlock.
_LOCK_WINDOWS = """
    SELECT FROM trackers_window w WHERE w.id = ANY(%(windows)s::bigint[])
    ORDER BY w.id FOR UPDATE OF w
"""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WindowReport:
    """What replies said of a window, except `remaining`; nothing without a `limit`."""

    window_id: int
    limit: int | None = None
    resets_at: datetime | None = None
    seen_at: datetime | None = None
    limit_a_day: int | None = None

    @classmethod
    def by(cls, window_id: int, window: WindowSeen | None) -> WindowReport:
        if window is None:
            return cls(window_id)
        return cls(window_id, window.limit, window.resets_at, window.seen_at, window.limit_a_day)

    @property
    def place(self) -> tuple[bool, datetime, datetime, int]:
        """In the order X dated them, so the last one sets its clock; silent ones last."""
        seen_at, resets_at = self.seen_at or _LONG_AGO, self.resets_at or _LONG_AGO
        return self.limit is None, seen_at, resets_at, self.window_id


def settle_all(replies: Sequence[tuple[Reservation, WindowSeen | None]], *, answered: bool) -> None:
    """The replies came, or never will; with each, what its headers said, None for nothing.

    `answered`: X gave what was asked for.
    """
    replies_by_report = defaultdict[WindowReport, list[tuple[Reservation, WindowSeen | None]]](list)
    for reservation, window in replies:
        replies_by_report[WindowReport.by(reservation.window_id, window)].append(
            (reservation, window)
        )
    windows = {report.window_id for report in replies_by_report}
    with cursor() as db:
        if len(windows) > 1:
            db.execute(_LOCK_WINDOWS, {"windows": list(windows)})
        for report in sorted(replies_by_report, key=lambda one: one.place):
            db.execute(_SETTLE, _settling(report, replies_by_report[report], answered=answered))
        of_apps = [one for one in replies if one[1] and one[1].left_to_app is not None]
        if of_apps:
            db.execute(_LEARN_APP_DAYS, _days_of_apps(of_apps))


def _days_of_apps(replies: Sequence[tuple[Reservation, WindowSeen | None]]) -> dict[str, Any]:
    seen = [(reservation.window_id, window) for reservation, window in replies if window]
    return {
        "windows": array(id for id, _ in seen),
        "remaining": array(window.left_to_app for _, window in seen),
        "resets_at": [window.app_resets_at for _, window in seen],
        "seen_at": [window.seen_at for _, window in seen],
        "longest": _LONGEST_WINDOW,
    }


def _settling(
    report: WindowReport,
    replies: Sequence[tuple[Reservation, WindowSeen | None]],
    *,
    answered: bool,
) -> dict[str, Any]:
    times = sorted(reservation.at for reservation, _ in replies)
    return {
        "id": report.window_id,
        "times": times,
        "newest": times[-1],
        "answered": answered,
        "limit": report.limit,
        "remaining": min((window.remaining for _, window in replies if window), default=None),
        "resets_at": report.resets_at,
        "seen_at": report.seen_at,
        "limit_a_day": report.limit_a_day,
        "longest": _LONGEST_WINDOW,
        "under_way_for": UNDER_WAY_FOR,
    }
