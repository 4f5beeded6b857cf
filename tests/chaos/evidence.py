"""What a run leaves behind for the books: plain values, read when everything has stopped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.chaos.exchanges import Exchanges
from tests.chaos.ground import Pace
from tests.chaos.homes import Homes
from tests.chaos.listening import Streamed
from tests.chaos.schedule import Fault
from tests.chaos.strikes import Happening
from tests.chaos.subscribed import Subscribed

TWEETS = "SELECT id, created_at, gone_at IS NOT NULL FROM trackers_tweet"
QUEUE = """
    SELECT j.key, coalesce(b.strikes, j.strikes), b.lease IS NOT NULL
    FROM trackers_tweetupdate j LEFT JOIN LATERAL (
        SELECT strikes, lease FROM trackers_tweetbucket WHERE stamp = j.stamp AND j.key = ANY(keys)
    ) b ON true
"""
MEASURED = """
    SELECT id, sum(measurements)::int FROM (
        SELECT id, measurements FROM trackers_tweet
        UNION ALL SELECT tweet_id, measurements FROM trackers_sample
        UNION ALL SELECT tweet_id, unnest(measurements) FROM trackers_packedsamples
    ) AS series (id, measurements) GROUP BY id
"""


@dataclass(frozen=True, slots=True)
class Rows:
    """`tweets`: id, birth, gone. `queue`: key, strikes, claimed. `measured`: by tweet, the sum of
    its series: newest, closed and packed samples."""

    tweets: list[tuple[int, datetime | None, bool]]
    queue: list[tuple[int, int, bool]]
    measured: dict[int, int]


def read_rows(postgres) -> Rows:
    return Rows(postgres.rows(TWEETS), postgres.rows(QUEUE), dict(postgres.rows(MEASURED)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Times are epoch seconds. `lines`: X's log of look-ups. `stops`: exit status of each host's
    cluster at the end; `unasked`: of those that ended though nobody had struck them; `told`: of
    those that a fault had told to end. `busy`: percent of the machine before the faults, all
    of it and what this run took of it."""

    pace: Pace
    workers: int
    ids: frozenset[int]
    hosts: tuple[str, ...]
    rows: Rows
    exchanges: Exchanges
    happenings: tuple[Happening, ...]
    planned: tuple[Fault, ...]
    calm_from: float
    calm_until: float
    stretch: float
    overdue: int
    stops: dict[str, int | None]
    unasked: dict[str, list[int]]
    told: list[int]
    # When a look-up's task was ended by its alarm, by host: on a busy machine they are too slow.
    alarms: dict[str, list[float]]
    lines: list[dict[str, Any]]
    totals: dict[str, Any]
    busy: tuple[float, float]
    streamed: Streamed
    homes: Homes
    subscribed: Subscribed
