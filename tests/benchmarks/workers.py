"""Do workers add up? More and more of them against an X that takes 300 ms for each answer."""

from __future__ import annotations

import os
from contextlib import ExitStack

from tests.benchmarks import pipeline
from tests.benchmarks.processes import world
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.workshop import Workshop

LATENCY_MS = 300
COUNTS = (1, 2, 4, 8, 16)
TRACKED = 300_000
# From here on the machine has no time left, and more workers cannot add anything.
FULL = 0.9
ONE_WORKER = 2000

BATCHES = """
    SELECT coalesce(sum(asked), 0)::float8 / greatest(1, sum(batches)) FROM trackers_queuecounters
"""


def run(shop: Workshop) -> Result:
    rows: list[dict[str, Value]] = []
    with ExitStack() as stack:
        tweets = shop.size.many(TRACKED)
        x = stack.enter_context(world(shop.processes, tweets=tweets, latency_ms=LATENCY_MS))
        shop.say(f"workers: loading {x.tweets:,} tweets")
        database = stack.enter_context(pipeline.loaded(shop, x))
        counts = COUNTS[:2] if shop.size.is_smoke else COUNTS
        for count in counts:
            database.sql("TRUNCATE trackers_queuecounters")
            done = pipeline.stretch(shop, database, x, workers=count, seconds=shop.size.seconds(30))
            first = float(rows[0]["tweets/s"] or 1) if rows else done.rate.a_second
            rows.append(
                {
                    "workers": count,
                    "tweets/s": done.rate.a_second,
                    "of linear": done.rate.a_second / (first * count) if first else 0.0,
                    "cores busy": done.machine,
                    "tweets a request": float(database.value(BATCHES)),
                }
            )
            shop.say(f"workers: {count}: {done.rate.a_second:,.0f} tweets/s")
    return Result(name="workers", rows=rows, bars=bars(rows))


def bars(rows: list[dict[str, Value]]) -> list[Bar]:
    cores = len(os.sched_getaffinity(0))
    free = [row for row in rows if float(row["cores busy"] or 0) < FULL * cores]
    linear = min((float(row["of linear"] or 0) for row in free), default=None)
    fill = min(float(row["tweets a request"] or 0) for row in rows)
    return [
        Bar("one worker", float(rows[0]["tweets/s"] or 0), ONE_WORKER, unit="tweets/s"),
        Bar("share of linear while the machine is not full", linear, 0.9),
        Bar("tweets a request", fill, 99),
    ]
