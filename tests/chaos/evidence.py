"""What a run leaves behind for the books: plain values, read when everything has stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.chaos.exchanges import Exchanges
from tests.chaos.ground import Pace
from tests.chaos.homes import Homes
from tests.chaos.listening import Streamed
from tests.chaos.messaged import Messaged
from tests.chaos.recounted import Recounted
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
SERIES = """
    SELECT id, array_agg(extract(epoch FROM taken_at)::float8 ORDER BY taken_at),
           array_agg(measurements ORDER BY taken_at)
    FROM (
        SELECT id, taken_at, measurements FROM trackers_tweet WHERE measurements > 0
        UNION ALL SELECT tweet_id, taken_at, measurements FROM trackers_sample
        UNION ALL SELECT tweet_id, unnest(taken_at), unnest(measurements)
        FROM trackers_packedsamples
    ) AS series (id, taken_at, measurements) GROUP BY id
"""

# A worker writes it as soon as the alarm has ended its task; the cluster's log may come seconds
# later on a busy machine. By its time, since the reason may be what had failed before the alarm.
ALARMS = """
    SELECT pid, extract(epoch FROM ended_at - took)::float8, extract(epoch FROM ended_at)::float8
    FROM trackers_notedtask
    WHERE queue = 'tweet:update' AND failed AND (
        took >= make_interval(secs => %s) OR reason LIKE '%%Task exceeded maximum timeout%%')
"""


@dataclass(frozen=True, slots=True)
class Rows:
    """`tweets`: id, birth, gone. `queue`: key, strikes, claimed. `measured`: by tweet, the sum of
    its series: newest, closed and packed samples. `series`: by tweet, since when each of these
    held, and of how many measurements. `read_at`: when all this was so."""

    tweets: list[tuple[int, datetime | None, bool]]
    queue: list[tuple[int, int, bool]]
    measured: dict[int, int]
    read_at: float
    series: dict[int, list[tuple[float, int]]] = field(default_factory=dict)


def read_rows(postgres) -> Rows:
    series = {id: list(zip(*samples, strict=True)) for id, *samples in postgres.rows(SERIES)}
    measured = {id: sum(count for _, count in samples) for id, samples in series.items()}
    tweets, queue = postgres.rows(TWEETS), postgres.rows(QUEUE)
    return Rows(tweets, queue, measured, time.time(), series)


def read_alarms(postgres, hosts, pace) -> dict[str, list[tuple[float, float]]]:
    """When look-ups that their alarm ended began and ended, by host."""
    host_of = {pid: host.name for host in hosts for pid in host.pids}
    alarms: dict[str, list[tuple[float, float]]] = {host.name: [] for host in hosts}
    for pid, began, ended in postgres.rows(ALARMS, pace.task_timeout):
        if pid in host_of:
            alarms[host_of[pid]].append((began, ended))
    return alarms


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
    # When look-ups began and ended that their alarm ended, by host: on a busy machine some are too
    # slow.
    alarms: dict[str, list[tuple[float, float]]]
    # What each host logged: when by its own clock, by which process, the line.
    logs: dict[str, list[tuple[float, int, str]]]
    # By how much naps of this process were too long: how busy the machine was.
    lags: list[tuple[float, float]]
    lines: list[dict[str, Any]]
    totals: dict[str, Any]
    busy: tuple[float, float]
    streamed: Streamed
    homes: Homes
    subscribed: Subscribed
    messaged: Messaged
    recounted: Recounted

    def lag_between(self, begin: float, end: float) -> float:
        """The longest lag of a nap that ended within these times or just after them."""
        return max((lag for at, lag in self.lags if begin <= at <= end + lag), default=0.0)
