"""Does the queue care how many wait? Claim, gate and the pipeline at ever more tracked tweets."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

import psycopg

from tests.benchmarks import loading, pipeline
from tests.benchmarks.database import Database
from tests.benchmarks.processes import world
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.workshop import Workshop
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE

TRACKED = (100_000, 1_000_000, 5_000_000)
MOST = 10_000_000
TIMES = 200
# So many claims go before. The first change of a page after a checkpoint puts the whole page into
# the WAL; how often that happens tells how long ago the checkpoint was, not how many tweets wait.
FIRST_TOUCHES = 200
# Half of a small queue is left for those that count, in ten claims at the least.
MOST_TOUCHED = 0.5
LEAST_CLAIMS = 10
CLAIMED = 1000
CLAIM_SO_MANY = "UPDATE trackers_queue SET batch_size = %s WHERE name = %s"
GIVE_BACK = """
    UPDATE trackers_tweetbucket SET due_at = now() - random() * interval '10 minutes', lease = NULL
    WHERE lease IS NOT NULL
"""
# What `claim` is given by the pusher; EXPLAIN of a poll tells the server's time alone.
QUEUE = {
    "queue": TWEET_UPDATE, "limit": None, "buffer_ttl": None, "connected": queue.ALWAYS,
    "low": queue.FROM_THE_HEAD,
    "low_urgent": queue.FROM_THE_HEAD,
}  # fmt: skip


def run(shop: Workshop) -> Result:
    numbers = [*TRACKED, *([MOST] if shop.size.ten_million else [])]
    if shop.size.is_smoke:
        numbers = numbers[:2]
    rows = [measured(shop, shop.size.many(tracked)) for tracked in numbers]
    first, last = rows[0], rows[-1]
    growth = float(last["claim p50 ms"] or 0) / float(first["claim p50 ms"] or 1)
    kept_up = float(last["then tweets/s"] or 0) / float(first["then tweets/s"] or 1)
    first_ones = max(float(row["first claims p99 ms"] or 0) for row in rows[: len(TRACKED)])
    slowest = max(float(row["poll ms"] or 0) for row in rows)
    return Result(
        name="scale",
        rows=rows,
        bars=[
            Bar("claim at most tweets ÷ at fewest", growth, 1.5, "at most"),
            Bar("claim p99 up to 5 M, from the first on", first_ones, 20, "at most", "ms"),
            Bar("poll with nothing due, slowest", slowest, 0.1, "at most", "ms"),
            Bar("tweets/s at most tweets ÷ at fewest, steady", kept_up, 0.6, "at least"),
        ],
    )


def measured(shop: Workshop, tweets: int) -> dict[str, Value]:
    with ExitStack() as stack:
        x = stack.enter_context(world(shop.processes, tweets=tweets))
        shop.say(f"scale: loading {tweets:,} tweets")
        begun = time.monotonic()
        database = stack.enter_context(pipeline.loaded(shop, x))
        loaded = time.monotonic() - begun
        poll = polls(shop, tweets, x.start_ms)
        # What was just loaded is on its way to the disk, and every WAL flush would wait behind it.
        shop.databases.settle()
        claimed = min(CLAIMED, max(1, tweets // LEAST_CLAIMS))
        touches = min(FIRST_TOUCHES, max(1, int(MOST_TOUCHED * tweets / claimed)))
        database.sql(CLAIM_SO_MANY, (claimed, TWEET_UPDATE))
        touching = claims(database, touches)
        claim = claims(database, TIMES, low=touching.low)
        database.sql(CLAIM_SO_MANY, (CLAIMED, TWEET_UPDATE))
        database.sql(GIVE_BACK)
        database.sql("VACUUM (ANALYZE) trackers_tweetbucket")
        # At first each look-up writes a page that was not written since the checkpoint, whole; once
        # most were, it is as it stays for the half hour until the next checkpoint.
        at_first, then = (
            pipeline.stretch(shop, database, x, seconds=shop.size.seconds(60)).rate.a_second
            for _ in range(2)
        )
        shop.say(f"scale: {tweets:,} tweets, {at_first:,.0f} and then {then:,.0f} tweets/s")
        return {
            "tweets": tweets,
            "first claims p50 ms": median(touching.times),
            "first claims p99 ms": p99(touching.times),
            "claim p50 ms": median(claim.times),
            "claim p99 ms": p99(claim.times),
            "poll ms": poll,
            "at first tweets/s": at_first,
            "then tweets/s": then,
            "loaded in s": loaded,
        }


@dataclass(frozen=True, slots=True)
class Claims:
    """Milliseconds of full batches claimed in a row, and where a next claim may begin to look."""

    times: Sequence[float]
    low: Any


def claims(database: Database, times: int, *, low: Any = queue.FROM_THE_HEAD) -> Claims:
    """So many claims of full batches, each rolled on like a pusher would."""
    taken: list[float] = []
    with database.connect(prepare_threshold=3) as db:
        statement = queue.on(TWEET_UPDATE, queue.CLAIM_BATCH)
        while len(taken) < times:
            given = {**QUEUE, "low": low, "token": secrets.randbits(63)}
            milliseconds, found = timed(lambda given=given: db.execute(statement, given).fetchone())
            if not found[0]:
                break
            low = found[1]
            taken.append(milliseconds)
    return Claims(taken, low)


def p99(times: Sequence[float]) -> float:
    return sorted(times)[int(0.99 * len(times))]


def polls(shop: Workshop, tweets: int, start_ms: int) -> float:
    """Milliseconds of the server for the gate while as many wait and none is due; the median."""
    with shop.databases.fresh() as database:
        loading.load(database, tweets=tweets, start_ms=start_ms, due=loading.NOT_DUE)
        with database.connect() as db, psycopg.ClientCursor(db) as asking:
            statement = "EXPLAIN (ANALYZE, TIMING OFF) " + queue.on(TWEET_UPDATE, queue.READY_IN)
            told = [asking.execute(statement, QUEUE).fetchall()[-1][0] for _ in range(TIMES)]
    return median(float(line.split()[-2]) for line in told)


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = act()
    return 1000 * (time.perf_counter() - begun), found
