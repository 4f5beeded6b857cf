"""Does a burst starve the young? A million tweets come in by one `track` while young ones are due.

How late a young tweet was is read off its own samples: the time between two of them less the
interval. Those of the burst are old, and rest once each was looked at.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from fakex.world.ids import HOUR, MINUTE, TWEPOCH_MS, Ids
from tests.benchmarks import loading
from tests.benchmarks.database import Database
from tests.benchmarks.measuring import NOW
from tests.benchmarks.processes import SEED, cluster, wait_until, world
from tests.benchmarks.results import Bar, Result
from tests.benchmarks.workshop import Workshop

BURST, YOUNG = 1_000_000, 50_000
# More than half of the fake's tweets are older than an hour, a quarter younger than 18 minutes.
WORLD = 2
# Seconds from one look at a young tweet to the next, and how late one may be.
EVERY = 30.0
INTERVALS = """
    INSERT INTO trackers_interval (younger_than, every, jitter, enabled)
    VALUES (interval '55 minutes', %s * interval '1 second', 0, true),
           (interval '10000 days', interval '30 days', 0, true)
"""
# The last gap of each is the one that is not over yet.
LATE = """
    WITH samples AS (
        SELECT tweet_id, taken_at FROM trackers_sample JOIN young USING (tweet_id)
        UNION ALL
        SELECT id, taken_at FROM trackers_tweet JOIN young ON id = tweet_id
        UNION ALL
        SELECT tweet_id, %(end)s FROM young
    ), gaps AS (
        SELECT taken_at, extract(epoch FROM taken_at - lag(taken_at) OVER (
            PARTITION BY tweet_id ORDER BY taken_at))::float8 - %(every)s AS late
        FROM samples
    )
    SELECT count(*), percentile_disc(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY greatest(late, 0)),
           max(late)
    FROM gaps WHERE taken_at >= %(begin)s AND late IS NOT NULL
"""
LEFT = """
    SELECT count(*) FROM trackers_tweet WHERE measurements = 0 AND came_from <> 'bench'
"""
THROUGH = "SELECT max(taken_at) FROM trackers_tweet WHERE came_from <> 'bench'"
RATE = "SELECT arrivals_per_second FROM trackers_queue WHERE name = 'tweet:update'"


def run(shop: Workshop) -> Result:
    workers = shop.size.workers
    share = min(1.0, shop.size.scale)
    every = min(EVERY, shop.size.seconds(10 * EVERY, least=3))
    bursting, young = int(shop.size.many(BURST) * share), int(shop.size.many(YOUNG) * share)
    with ExitStack() as stack:
        x = stack.enter_context(world(shop.processes, tweets=WORLD * bursting + 4 * young))
        ids = Ids(seed=SEED, tweets=x.tweets, start_ms=x.start_ms)
        database = stack.enter_context(shop.databases.fresh())
        shop.say(f"burst: loading {young:,} young tweets")
        load_young(database, islice(aged(ids, 0, 17 * MINUTE), young), every=every)
        spread = bursting / float(database.value(RATE))
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "burst.txt"
        file.write_text("\n".join(map(str, islice(aged(ids, HOUR, None), bursting))))
        with cluster(shop.processes, database, workers=workers, X_API_BASE_URL=x.url):
            # Each has been looked at once.
            time.sleep(every + 4)
            shop.say(f"burst: tracking {bursting:,} more, which are spread over {spread:.0f} s")
            begin = database.value(NOW)
            database.manage("track", "--yes", str(file))
            tracked = (database.value(NOW) - begin).total_seconds()
            wait_until(
                lambda: settled(database), within=60 + 3 * spread, what="the burst is through"
            )
        found = judged(database, begin=begin, every=every)
    return result(found, spread=spread, tracked=tracked, bursting=bursting)


def aged(ids: Ids, least_ms: int, most_ms: int | None) -> Iterator[int]:
    """The ids of the fake's tweets of these ages at its start."""
    for id in ids.between(0, ids.tweets):
        age = ids.start_ms - ((id >> 22) + TWEPOCH_MS)
        if age >= least_ms and (most_ms is None or age < most_ms):
            yield id


def load_young(database: Database, ids: Iterator[int], *, every: float) -> None:
    database.sql(loading.NO_INTERVALS)
    database.sql(INTERVALS, (every,))
    with database.connect() as db:
        due = f"random() * interval '{every} seconds'"
        loading.fill(db, ids, due=due)
        db.execute("CREATE TABLE young AS SELECT id AS tweet_id FROM trackers_tweet")


def settled(database: Database) -> bool:
    time.sleep(0.5)
    return database.value(LEFT) == 0


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds by which the young were late, and until the whole burst had been looked at."""

    looks: int
    p50: float
    p99: float
    most: float
    through: float


def judged(database: Database, *, begin: datetime, every: float) -> Found:
    span = {"begin": begin, "end": database.value(NOW), "every": every}
    looks, (p50, p99), most = database.sql(LATE, span)[0]
    return Found(looks, p50, p99, most, (database.value(THROUGH) - begin).total_seconds())


def result(measured: Found, *, spread: float, tracked: float, bursting: int) -> Result:
    # The seconds are what a batch that is not full waits for, and its request.
    most_through = 1.1 * spread + 3
    return Result(
        name="burst",
        rows=[
            {
                "burst": bursting,
                "tracked in s": tracked,
                "spread s": spread,
                "through in s": measured.through,
                "look-ups of young": measured.looks,
                "late p50 s": measured.p50,
                "late p99 s": measured.p99,
                "latest s": measured.most,
            }
        ],
        bars=[
            Bar("p99 of how late the young were", measured.p99, 5, "at most", "s", book=True),
            Bar("the burst is through within", measured.through, most_through, "at most", "s"),
        ],
    )
