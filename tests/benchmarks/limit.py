"""The ceiling: the product's own SQL for claim and save, with nothing around it."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import dataclass

from tests.benchmarks import cpu, limit_process, measuring
from tests.benchmarks.database import Database
from tests.benchmarks.measuring import NOW, Rate
from tests.benchmarks.processes import Processes, wait_until
from tests.benchmarks.workshop import Workshop
from trackers.management.child_processes import Child

PROGRAM = ("-m", "tests.benchmarks.limit_process")
CANDIDATES = (2, 3, 4, 6)


@dataclass(frozen=True, slots=True)
class Reached:
    """`said`: how many measurements the processes say they saved, `recorded`: what there is.

    `cpu`: microseconds a tweet, PostgreSQL's and their own.
    """

    rate: Rate
    processes: int
    said: int
    recorded: int
    claim_ms: float
    save_ms: float
    cpu: float


def run(processes: Processes, database: Database, *, count: int, seconds: float) -> Reached:
    """So many processes for so long."""
    before = measuring.recorded(database)
    with ExitStack() as stack:
        children = [
            stack.enter_context(
                processes.running(f"limit{number}", PROGRAM, env=database.environment)
            )
            for number in range(count)
        ]
        wait_until(
            lambda: all(child.has_died() or is_at_work(child) for child in children),
            within=60,
            what="every process of limit is at work",
        )
        time.sleep(min(4.0, seconds / 3))
        groups = {"limit": [child.process.pid for child in children]}
        postgres = cpu.postmaster_of(database)
        begin, used = database.value(NOW), cpu.used(groups, postgres=postgres)
        time.sleep(seconds)
        end, spent = database.value(NOW), cpu.used(groups, postgres=postgres).since(used)
    data = [json.loads(child.log.read_text().splitlines()[-1]) for child in children]
    batches = max(1, sum(one["batches"] for one in data))
    rate = measuring.rate(database, begin=begin, end=end)
    return Reached(
        rate=rate,
        processes=count,
        said=sum(one["saved"] for one in data),
        recorded=measuring.recorded(database) - before,
        claim_ms=1000 * sum(one["claiming"] for one in data) / batches,
        save_ms=1000 * sum(one["saving"] for one in data) / batches,
        cpu=1e6 * sum(spent.by_group.values()) / max(1, rate.measured),
    )


def is_at_work(child: Child) -> bool:
    """Whether it has said so: one that is ended before that says nothing of what it did."""
    return limit_process.AT_WORK in child.log.read_text().splitlines()


def fastest(shop: Workshop, database: Database, *, seconds: float) -> int:
    """How many processes are fastest here; two when there is no time to try."""
    if seconds < 2:
        return 2
    rates = {
        count: run(shop.processes, database, count=count, seconds=seconds).rate.a_second
        for count in CANDIDATES
    }
    tried = ", ".join(f"{count}: {rate:,.0f}/s" for count, rate in rates.items())
    shop.say(f"limit with so many processes: {tried}")
    return max(rates, key=lambda count: rates[count])
