"""Does it stay fast? The pipeline fresh, after millions of reschedules, and behind an old snapshot.

A transaction that stays open (a report, pg_dump) keeps every dead row of the queue from vacuum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.benchmarks import pipeline
from tests.benchmarks.database import Database
from tests.benchmarks.pipeline import Stretch
from tests.benchmarks.processes import world
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.workshop import Workshop

TRACKED = 1_000_000
RESCHEDULES = 5_000_000
SECONDS = 60.0
# A stretch of churn is as long as this at the most, so that it is told how it goes.
LEG = 120.0

SIZES = """
    SELECT (pg_table_size('trackers_tweetupdate') + pg_table_size('trackers_tweetbucket')) / 1e6,
           (pg_indexes_size('trackers_tweetupdate') + pg_indexes_size('trackers_tweetbucket'))
               / 1e6,
           pg_table_size('trackers_tweet') / 1e6, pg_indexes_size('trackers_tweet') / 1e6
"""
COLUMNS = ("queue MB", "its indexes MB", "tweets MB", "their indexes MB")


def run(shop: Workshop) -> Result:
    seconds = shop.size.seconds(SECONDS)
    with ExitStack() as stack:
        x = stack.enter_context(world(shop.processes, tweets=shop.size.many(TRACKED)))
        shop.say(f"churn: loading {x.tweets:,} tweets")
        database = stack.enter_context(pipeline.loaded(shop, x))
        rows = [row("as loaded", None, database)]

        def measure(what: str, length: float) -> Stretch:
            done = pipeline.stretch(shop, database, x, seconds=length)
            shop.say(f"churn: {what}: {done.rate.a_second:,.0f} tweets/s")
            rows.append(row(what, done, database))
            return done

        # Until most pages were written once since the checkpoint: the first time each goes into the
        # WAL whole, and against that everything later would look fast.
        measure("first look-ups", seconds)
        fresh = measure("fresh", seconds)
        target = shop.size.many(int(RESCHEDULES * min(1.0, shop.size.scale)))
        rescheduled = fresh.rate.measured
        while rescheduled < target:
            length = min(LEG, max(1.0, (target - rescheduled) / max(1.0, fresh.rate.a_second)))
            rescheduled += max(1, measure(f"after {rescheduled:,}", length).rate.measured)
        after = measure(f"after {rescheduled:,} reschedules", seconds)
        with held_snapshot(database):
            held = measure("a transaction held open", seconds)
    return Result(
        name="churn",
        rows=rows,
        bars=[
            Bar("rate after reschedules ÷ fresh", ratio(after, fresh), 0.9, book=True),
            Bar("rate with a held transaction ÷ fresh", ratio(held, fresh), 0.8, book=True),
        ],
    )


@contextmanager
def held_snapshot(database: Database) -> Iterator[None]:
    """A transaction that has read once and stays: nothing that dies after it can be removed."""
    with database.connect() as db:
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        db.execute("SELECT count(*) FROM trackers_queue")
        yield
        db.execute("ROLLBACK")


def ratio(one: Stretch, other: Stretch) -> float:
    return one.rate.a_second / max(1e-9, other.rate.a_second)


def row(what: str, done: Stretch | None, database: Database) -> dict[str, Value]:
    sizes = database.sql(SIZES)[0]
    return {
        "what": what,
        "tweets/s": done.rate.a_second if done else None,
        **{name: float(megabytes) for name, megabytes in zip(COLUMNS, sizes, strict=True)},
    }
