"""Every bench by its name, in the order in which `bench all` runs them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from tests.benchmarks import (
    burst,
    churn,
    files,
    lateness,
    leak,
    machine,
    pages,
    rounds,
    scale,
    store,
    workers,
)
from tests.benchmarks.cadence import bench as cadence
from tests.benchmarks.events import bench as events
from tests.benchmarks.screens import bench as screens
from tests.benchmarks.timelines import bench as timelines
from tests.benchmarks.workshop import Bench, Size, workshop

BESIDE = "; in rounds with those it is compared with"

ALONE = (
    Bench(
        "scale", "claim, poll and pipeline at 100 k, 1 M and 5 M tracked tweets", 4, 9, scale.run
    ),
    Bench(
        "churn",
        "the pipeline after 5 M reschedules, and behind a held transaction",
        9,
        3,
        churn.run,
    ),
    Bench("workers", "1, 2, 4, 8 and 16 workers with an X that takes 300 ms", 3, 3, workers.run),
    Bench("burst", "how late young tweets are while 1 M others arrive at once", 18, 2, burst.run),
    Bench("lateness", "how late tweets are at 70 % load", 12, 2, lateness.run),
    Bench(
        "leak", "posts lost by the naive cursor and by ours, 20,000 at each skew", 2.5, 1, leak.run
    ),
    Bench("store", "bytes of a sample, a long history, an export of 1 M samples", 0, 2, store.run),
    Bench("files", "1 M rows read from each kind of file: speed and memory", 0, 6, files.run),
    Bench("pages", "each page and search at 100 k and 1 M tweets", 0, 6, pages.run),
    Bench(
        "screens",
        "pages, calls and periodic tasks at 1 M tweets with 50 M samples; a curve is painted",
        0,
        14,
        screens.run,
    ),
    Bench(
        "timelines",
        "the timeline store, and homes by each strategy, beside what people would take instead",
        4,
        6,
        timelines.run,
    ),
    Bench(
        "events",
        "events published and delivered, beside those who hang, and what people would take",
        7,
        2,
        events.run,
    ),
    Bench(
        "cadence",
        "what is known of tweets by fixed and by adapting intervals, and what it costs",
        0,
        2,
        cadence.run,
    ),
)

MEASURES = {
    "pipeline": "tweets/s: claim, HTTP look-up, parse, save, reschedule, with real workers",
    "adapting": "the pipeline again with an interval that adapts: a pace and a wait for each tweet",
    "homes": "the pipeline again while every tweet is in ten homes",
    "subscribed": "the pipeline again while everything is told to a subscriber",
    "limit": "the same SQL through psycopg with nothing around it: the ceiling",
    "stock": "the same work on stock django-q2 with one task per tweet and ORM saves",
    "orm-batch": "the same with one stock task per 100 tweets, bulk_update and bulk_create",
}
MINUTES = {
    "pipeline": 5.5,
    "adapting": 5.5,
    "homes": 5.5,
    "subscribed": 5.5,
    "limit": 6.0,
    "stock": 4.5,
    "orm-batch": 4.5,
}
# Loading its tweets, and starting and ending its processes in each round.
BESIDES = 1.2

__all__ = ["Size", "chosen", "describe", "measures", "names", "workshop"]

describe = machine.describe


def names() -> list[str]:
    return [*rounds.CONTENDERS, *(bench.name for bench in ALONE)]


def measures() -> dict[str, str]:
    told = {name: text + BESIDE for name, text in MEASURES.items()}
    return told | {bench.name: bench.measures for bench in ALONE}


def chosen(wanted: Collection[str]) -> Iterator[Bench]:
    """The benches to run, those that are compared with each other as one."""
    together = [name for name in rounds.CONTENDERS if name in wanted]
    if together:
        yield Bench(
            name=" ".join(together),
            measures="; ".join(MEASURES[name] for name in together),
            minutes=sum(MINUTES[name] for name in together),
            besides=BESIDES * len(together),
            run=partial(rounds.run, together),
        )
    yield from (bench for bench in ALONE if bench.name in wanted)
