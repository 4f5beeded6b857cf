"""How late is a tweet, when the machine has room? Seven tenths of what it can do, for a while.

The rate that the pipeline reaches at full load is measured first; the interval is then such that
seven tenths of it are due each second.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from tests.benchmarks import loading, pipeline
from tests.benchmarks.database import Database
from tests.benchmarks.lags import Lags, lags_of_counters
from tests.benchmarks.processes import cluster, wait_until, world
from tests.benchmarks.results import Bar, Result
from tests.benchmarks.workshop import Workshop

TRACKED = 1_000_000
LOAD = 0.7
SECONDS = 600.0
MARGIN = 2.0

# Each due at a moment of its own within one interval from now on.
SPREAD = """
    UPDATE trackers_tweetbucket
    SET due_at = now() + interval '5 seconds' + random() * %s::interval, lease = NULL, strikes = 0
"""
BUFFER_TTL = """
    SELECT extract(epoch FROM buffer_ttl)::float8 FROM trackers_queue
    WHERE name = 'tweet:update'
"""


def run(shop: Workshop) -> Result:
    workers = shop.size.workers
    with ExitStack() as stack:
        x = stack.enter_context(world(shop.processes, tweets=shop.size.many(TRACKED)))
        shop.say(f"lateness: loading {x.tweets:,} tweets")
        database = stack.enter_context(pipeline.loaded(shop, x))
        full = pipeline.stretch(shop, database, x, seconds=shop.size.seconds(60)).rate.a_second
        interval = max(2.0, x.tweets / (LOAD * full))
        shop.say(f"lateness: {full:,.0f} tweets/s at most, so each tweet every {interval:.0f} s")
        prepare(database, interval)
        with cluster(shop.processes, database, workers=workers, X_API_BASE_URL=x.url):
            # The first look at all of them is the start of the beat.
            time.sleep(5 + min(10.0, shop.size.seconds(30)))
            database.sql("TRUNCATE trackers_queuecounters")
            time.sleep(shop.size.seconds(SECONDS, least=3))
            if shop.size.is_smoke:
                wait_until(
                    lambda: lags_of_counters(database).count, within=60, what="a tweet is looked at"
                )
        lags = lags_of_counters(database)
        ttl = float(database.value(BUFFER_TTL))
    return result(lags, full=full, ttl=ttl)


def prepare(database: Database, interval: float) -> None:
    loading.every(database, f"{interval} seconds", jitter=0.05)
    database.sql(SPREAD, (f"{interval} seconds",))
    database.sql("VACUUM (ANALYZE) trackers_tweetbucket")


def result(lags: Lags, *, full: float, ttl: float) -> Result:
    p50, p99 = lags.below(0.5), lags.below(0.99)
    return Result(
        name="lateness",
        rows=[
            {
                "tweets/s at most": full,
                "looked at": lags.count,
                "p50 at most s": p50,
                "p99 at most s": p99,
                "later than 10 s": lags.above(10.0),
            }
        ],
        bars=[
            Bar("p50 of lateness", p50, ttl, "at most", "s"),
            Bar("p99 of lateness", p99, ttl + MARGIN, "at most", "s"),
        ],
        notes=["Lateness is counted in classes by the workers; told is a class's upper bound."],
    )
