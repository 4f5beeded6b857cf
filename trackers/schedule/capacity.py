"""How many tweets a second X's windows allow, and how many the workers have managed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.observed.models import QueueCounters
from trackers.schedule.stretch.solve import WINDOW_S
from trackers.xapi.endpoints import LOOKUP_BY_IDS
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_WINDOWS = statement(__file__, "windows")

# The busiest minute of the last day, and whether most of its look-ups were late: only then were the
# workers at their limit, instead of doing all that was due.
_BEST_MINUTE = """
    WITH best AS (
        SELECT minute, sum(asked) AS asked
        FROM trackers_queuecounters
        WHERE queue = %(queue)s AND minute >= now() - interval '1 day'
          AND minute < date_trunc('minute', now())
        GROUP BY minute ORDER BY asked DESC LIMIT 1
    )
    SELECT best.asked::float8 / 60,
           2 * sum(late.count::int) FILTER (WHERE late.place > %(punctual)s) > sum(late.count::int)
    FROM best JOIN trackers_queuecounters t ON t.queue = %(queue)s AND t.minute = best.minute
    CROSS JOIN LATERAL jsonb_array_elements_text(t.late) WITH ORDINALITY AS late(count, place)
    GROUP BY best.asked
"""
_PUNCTUAL_UP_TO = 10.0


@dataclass(frozen=True, slots=True)
class Capacity:
    """Tweets a second; None: unknown, so no limit."""

    windows: float | None
    workers: float | None
    usable: bool = True  # some credential may ask now

    @property
    def least(self) -> float | None:
        return min(
            (rate for rate in (self.windows, self.workers) if rate is not None), default=None
        )


def capacity(request_keys: int) -> Capacity:
    """What the usable windows allow on average, and the best that the workers managed."""
    with cursor() as db:
        row = db.execute(_WINDOWS, {"endpoints": json.dumps(dict(LOOKUP_BY_IDS))}).fetchone()
    assert row is not None
    usable, limit = row
    windows = None if limit is None else limit * request_keys / WINDOW_S
    return Capacity(windows, _workers_manage(), usable=usable)


def _workers_manage() -> float | None:
    """The best minute of the last 24 hours; None unless the workers were behind in it."""
    punctual = QueueCounters.LATENESS.index(_PUNCTUAL_UP_TO) + 1
    with cursor() as db:
        row = db.execute(_BEST_MINUTE, {"queue": TWEET_UPDATE, "punctual": punctual}).fetchone()
    return row[0] if row and row[1] else None
