"""What replies say about the window that their requests were reserved in, and about its rests.

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
from tweetwatch.database import cursor

# X's longest window: no reset further ahead is believed.
LONGEST_WINDOW = timedelta(days=1)

# Replies come in any order. Within one window (X may give its reset a second later or earlier) the
# lower count holds. Another window replaces it if X reported that one last: in the reply to a
# request that was reserved after the row was learned; or, among requests that were under way then,
# if it resets later, or is dated later by more than replies overtake each other. Older ones are
# dropped.
# A reset counts as reported if it is later than X's own clock, and is cut to the longest window.
# A reply that reported nothing leaves its request among the lost until the next window, and in that
# one for as long as it may still arrive.
# An answer ends the series of rejections, if its request was sent after the last of them.
# Several replies that say the same have the effect of learning them one after the other, the newest
# request first: if it is believed, the others are about the same window; if not, none of them is.
SAID_AT = f"coalesce(%(seen_at)s::timestamptz, {X_NOW})"
OVERTAKEN_BY = "interval '5 seconds'"
STILL_LOST = """ARRAY(SELECT r FROM unnest(w.lost) r
                      WHERE r > statement_timestamp() - %(under_way_for)s::interval)"""
SETTLE = f"""
    WITH said AS (
        SELECT w.*, {SAID_AT} AS said_at,
               CASE WHEN %(resets_at)s::timestamptz IS NOT NULL
                    THEN least(%(resets_at)s::timestamptz, {SAID_AT} + %(longest)s::interval)
                    END AS told
        FROM trackers_window w WHERE w.id = %(id)s FOR UPDATE OF w
    ), judged AS (
        SELECT said_at, told,
               CASE WHEN told > said_at IS NOT TRUE THEN 'nothing'
                    WHEN abs(extract(epoch FROM told - resets_at)) <= 2 THEN 'the same'
                    WHEN resets_at IS NULL OR learned_at IS NULL
                      OR %(newest)s::timestamptz > learned_at
                      OR told > resets_at AND said_at >= seen_at - {OVERTAKEN_BY}
                      OR said_at > seen_at + {OVERTAKEN_BY} THEN 'another'
                    ELSE 'an older one' END AS window,
               %(answered)s AND coalesce(%(newest)s::timestamptz > rejected_at, false) AS ends_rests
        FROM said
    )
    UPDATE trackers_window w SET
        under_way = ARRAY(SELECT r FROM unnest(w.under_way) r
                          WHERE r <> ALL (%(times)s::timestamptz[])),
        lost = CASE judged.window
            WHEN 'nothing' THEN
                CASE WHEN {OVER} THEN {STILL_LOST} ELSE w.lost END || %(times)s::timestamptz[]
            WHEN 'another' THEN {STILL_LOST}
            ELSE w.lost END,
        "limit" = CASE WHEN judged.window IN ('another', 'the same')
                       THEN %(limit)s::int ELSE w."limit" END,
        remaining = CASE judged.window WHEN 'another' THEN %(remaining)s::int
                                       WHEN 'the same' THEN least(w.remaining, %(remaining)s::int)
                                       ELSE w.remaining END,
        resets_at = CASE judged.window WHEN 'another' THEN judged.told
                                       WHEN 'the same' THEN greatest(w.resets_at, judged.told)
                                       ELSE w.resets_at END,
        -- A reply without a Date says nothing new about X's clock.
        seen_at = CASE WHEN judged.window IN ('another', 'the same')
                       THEN judged.said_at ELSE w.seen_at END,
        learned_at = CASE WHEN judged.window IN ('another', 'the same')
                          THEN statement_timestamp() ELSE w.learned_at END,
        limited = CASE WHEN judged.ends_rests THEN 0 ELSE w.limited END,
        refused = CASE WHEN judged.ends_rests THEN 0 ELSE w.refused END,
        refused_since = CASE WHEN judged.ends_rests THEN NULL ELSE w.refused_since END,
        refused_because = CASE WHEN judged.ends_rests THEN '' ELSE w.refused_because END,
        rejected_at = CASE WHEN judged.ends_rests THEN NULL ELSE w.rejected_at END,
        rests_until = CASE WHEN judged.ends_rests THEN NULL ELSE w.rests_until END,
        rests_because = CASE WHEN judged.ends_rests THEN '' ELSE w.rests_because END
    FROM judged, (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
    WHERE w.id = %(id)s
"""


# All windows first, in the order of ids, as in every statement that settles several: no deadlock.
LOCK = """
    SELECT FROM trackers_window w WHERE w.id = ANY(%(windows)s::bigint[])
    ORDER BY w.id FOR UPDATE OF w
"""
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Told:
    """What replies said of a window, except `remaining`; nothing without a `limit`."""

    window_id: int
    limit: int | None = None
    resets_at: datetime | None = None
    seen_at: datetime | None = None

    @classmethod
    def by(cls, window_id: int, window: WindowSeen | None) -> Told:
        if window is None:
            return cls(window_id)
        return cls(window_id, window.limit, window.resets_at, window.seen_at)

    @property
    def place(self) -> tuple[bool, datetime, datetime, int]:
        """In the order X dated them, so the last one sets its clock; silent ones last."""
        seen_at, resets_at = self.seen_at or LONG_AGO, self.resets_at or LONG_AGO
        return self.limit is None, seen_at, resets_at, self.window_id


def settle_all(replies: Sequence[tuple[Reservation, WindowSeen | None]], *, answered: bool) -> None:
    """The replies came, or never will; with each, what its headers said, None for nothing.

    `answered`: X gave what was asked for.
    """
    told = defaultdict[Told, list[tuple[Reservation, WindowSeen | None]]](list)
    for reservation, window in replies:
        told[Told.by(reservation.window_id, window)].append((reservation, window))
    windows = {one.window_id for one in told}
    with cursor() as db:
        if len(windows) > 1:
            db.execute(LOCK, {"windows": list(windows)})
        for one in sorted(told, key=lambda one: one.place):
            db.execute(SETTLE, settling(one, told[one], answered=answered))


def settling(
    told: Told, replies: Sequence[tuple[Reservation, WindowSeen | None]], *, answered: bool
) -> dict[str, Any]:
    times = sorted(reservation.at for reservation, _ in replies)
    return {
        "id": told.window_id,
        "times": times,
        "newest": times[-1],
        "answered": answered,
        "limit": told.limit,
        "remaining": min((window.remaining for _, window in replies if window), default=None),
        "resets_at": told.resets_at,
        "seen_at": told.seen_at,
        "longest": LONGEST_WINDOW,
        "under_way_for": UNDER_WAY_FOR,
    }
