"""Events: published, delivered, in time, and beside those who hang; and what people would take.

Real `deliver` and `bus` processes on a database of their own; the receivers are one process more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from tests.benchmarks import cpu
from tests.benchmarks.database import Database
from tests.benchmarks.events import rivals
from tests.benchmarks.events.names import DEADLINE, DELIVERED, HANGING_SHARE, MEDIAN, P95, PUBLISHED
from tests.benchmarks.events.receivers import Receivers
from tests.benchmarks.processes import MANAGE, free_port, is_listening, wait_until
from tests.benchmarks.results import Bar, Result
from tests.benchmarks.rounds import row
from tests.benchmarks.timelines import redis_server
from tests.benchmarks.timelines.bench import Found, told
from tests.benchmarks.workshop import Workshop
from trackers.management.child_processes import Child

SETTINGS = (
    ("EGRESS_ALLOW", "127.0.0.0/8"),
    ("EGRESS_PLAIN_HTTP", "true"),
    ("BUS_CONNECT_TIMEOUT", "2"),
    ("BUS_TOTAL_TIMEOUT", "2"),
    ("BUS_SCRUB_AFTER", "10"),
)
ROUNDS = 5
# At full length, in each round.
SECONDS, SETS, FEW = 10.0, 200, 300
CROWD = 1_000
CLAIMS, BARE = 200, 200
# Of a worker of Celery: as many as there are clients who post.
CONCURRENCY = 8
# "Not later" on a machine whose speed drifts from one minute to the next.
NO_LATER = 1.1
QUEUED = "SELECT coalesce(sum(cardinality(events)), 0)::bigint FROM trackers_eventbatch"
UNITS = {"÷": "", "from publish": "ms", "claim": "ms", "a set": "ms", "deliver's own": "MB"}


def run(shop: Workshop) -> Result:
    measured, smoke = Found(), shop.size.is_smoke
    many = 20 if smoke else CROWD
    with ExitStack() as stack:
        fresh = stack.enter_context(shop.databases.fresh())
        database = replace(fresh, extra=SETTINGS)
        control = stack.enter_context(receivers(shop, database))
        got, before = in_rounds(shop, database, measured, control=control, many=many)
        shop.say(f"events: {1000 * many:,} of them in the queue")
        claims = 5 if smoke else CLAIMS
        given = {"control": control, "subscribers": many, "claims": claims}
        queue = told(database, "queued", package="events", **given)
        after, lost = with_a_queue(shop, database, control, queue["queued"])
    tell_all(measured, got, queue, before=before, after=after)
    for name, difference in {**got["books"], "queued": lost}.items():
        what = f"{name}: published less received and queued"
        measured.bars.append(Bar(what, difference, 0, "exactly", book=True))
    return Result(
        "events",
        [row(one) for one in measured.spreads],
        measured.bars,
        measured.spreads,
        measured.notes,
    )


def in_rounds(
    shop: Workshop, database: Database, measured: Found, *, control: int, many: int
) -> tuple[dict[str, Any], float]:
    """What was found in all rounds, and the memory of `deliver` at their end, in MB."""
    smoke = shop.size.is_smoke
    with (
        celery(shop, database, measured) as broker,
        bus(shop, database) as address,
        delivering(shop, database) as child,
    ):
        shop.say("events: rounds of sets, single ones, posts, latency, and some who hang")
        got = told(
            database,
            "publishing",
            package="events",
            control=control,
            bus=address,
            broker=broker,
            rounds=1 if smoke else ROUNDS,
            crowd=many,
            seconds=shop.size.seconds(SECONDS, least=0.3),
            sets=4 if smoke else SETS,
            few=10 if smoke else FEW,
            bare=3 if smoke else BARE,
        )
        [memory] = cpu.own_megabytes([child.process.pid])
    return got, memory


def tell_all(
    measured: Found,
    got: Mapping[str, Any],
    queue: Mapping[str, Any],
    *,
    before: float,
    after: float,
) -> None:
    figures = {
        name: measured.spread(name, values, unit_of(name)) for name, values in got["found"].items()
    }
    bare = got["bare"]
    for name, values in bare.items():
        measured.spread(f"a set of 100, {name}", values)
    measured.ratio("a set ÷ bare INSERT of its rows", bare["tell"], bare["bare"])
    claims = measured.spread(f"claim of 200 among {queue['queued']:,} queued", queue["claims"])
    measured.spread("deliver's own memory", [before], "MB")
    grown = measured.spread(
        "deliver's own memory with this queue, less without", [after - before], "MB"
    )
    for name, least in ((PUBLISHED, 10_000), (DELIVERED, 500)):
        measured.bars.append(Bar(name, figures[name].median, least, unit="a second"))
    for name, most in ((MEDIAN, DEADLINE + 100), (P95, DEADLINE + 300)):
        measured.bar(f"{name}, deadline {DEADLINE} ms", figures[name].median, most, "ms")
    measured.bar(HANGING_SHARE, figures[HANGING_SHARE].median, NO_LATER)
    measured.bar(claims.name, claims.median, 50, "ms")
    measured.bar(grown.name, grown.median, 20, "MB")


def unit_of(name: str) -> str:
    return next((unit for part, unit in UNITS.items() if part in name), "a second")


@contextmanager
def receivers(shop: Workshop, database: Database) -> Iterator[int]:
    """The port by which they are told what to do."""
    port = free_port()
    command = ["-m", "tests.benchmarks.events.receiving", str(port)]
    with shop.processes.running("receivers", command, env=database.environment) as child:
        wait_until(
            lambda: child.has_died() or is_listening(port), within=30, what="receivers listen"
        )
        yield port


@contextmanager
def bus(shop: Workshop, database: Database) -> Iterator[str]:
    port = free_port()
    command = [MANAGE, "bus", f"--bind=127.0.0.1:{port}"]
    if shop.size.is_smoke:
        command.append("--workers=1")
    # Of this machine's, in clear.
    env = database.environment | {"HTTPS": "false", "ALLOWED_HOSTS": "127.0.0.1"}
    with shop.processes.running("bus", command, env=env) as child:
        wait_until(
            lambda: child.has_died() or is_listening(port), within=60, what="the bus listens"
        )
        yield f"http://127.0.0.1:{port}"


@contextmanager
def delivering(shop: Workshop, database: Database) -> Iterator[Child]:
    with shop.processes.running("deliver", [MANAGE, "deliver"], env=database.environment) as child:
        yield child


@contextmanager
def celery(shop: Workshop, database: Database, found: Found) -> Iterator[str]:
    """Redis's address, with a worker on it; empty where they are not installed."""
    if missing := rivals.missing():
        found.notes.append(f"Celery is left out: {missing}")
        yield ""
        return
    with redis_server.running() as client:
        broker = f"redis+socket://{client.connection_pool.connection_kwargs['path']}"
        app = "tests.benchmarks.events.celery_app"
        command = [
            *("-m", "celery", "-A", app, "worker", f"--concurrency={CONCURRENCY}"),
            *("--loglevel=WARNING", "--without-gossip", "--without-mingle"),
        ]
        env = database.environment | {"BENCH_BROKER": broker}
        with shop.processes.running("celery", command, env=env):
            yield broker


def with_a_queue(
    shop: Workshop, database: Database, control: int, queued: int
) -> tuple[float, int]:
    """The most memory of a `deliver` that works at it, in MB; and what the queue lost."""
    most, seconds = 0.0, shop.size.seconds(SECONDS)
    with Receivers(control) as listening:
        before = sum(listening.events())
        with delivering(shop, database) as child:
            wait_until(
                lambda: child.has_died() or sum(listening.events()) > before,
                within=60,
                what="something is delivered",
            )
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                most = max([most, *cpu.own_megabytes([child.process.pid])])
                time.sleep(0.1)
        # It has ended, and settled what was on its way.
        received = sum(listening.events()) - before
    return most, queued - received - int(database.value(QUEUED))
