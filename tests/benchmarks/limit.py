"""The ceiling: the product's own SQL for claim and save, with nothing around it."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import dataclass

from tests.benchmarks import measuring
from tests.benchmarks.database import Database
from tests.benchmarks.measuring import NOW, Rate
from tests.benchmarks.processes import Processes
from tests.benchmarks.workshop import Workshop

PROGRAM = ("-m", "tests.benchmarks.limit_process")
CANDIDATES = (2, 3, 4, 6)


@dataclass(frozen=True, slots=True)
class Reached:
    """`said`: how many measurements the processes say they saved, `recorded`: what there is."""

    rate: Rate
    processes: int
    said: int
    recorded: int
    claim_ms: float
    save_ms: float


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
        time.sleep(min(4.0, 2 + seconds / 3))
        begin = database.value(NOW)
        time.sleep(seconds)
        end = database.value(NOW)
    told = [json.loads(child.log.read_text().splitlines()[-1]) for child in children]
    batches = max(1, sum(one["batches"] for one in told))
    return Reached(
        rate=measuring.rate(database, begin=begin, end=end),
        processes=count,
        said=sum(one["saved"] for one in told),
        recorded=measuring.recorded(database) - before,
        claim_ms=1000 * sum(one["claiming"] for one in told) / batches,
        save_ms=1000 * sum(one["saving"] for one in told) / batches,
    )


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
