"""What is measured while `deliver` and `bus` run, round after round; told as one line of JSON."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.benchmarks.events import names, rivals
from tests.benchmarks.events.crowd import Crowd, crowd, difference, drain, wait_until_spread
from tests.benchmarks.events.receivers import Receivers
from tests.benchmarks.timelines.turns import in_turns
from trackers.bus import tokens
from tweetwatch.database import cursor

A_SECOND, TICK = 500, 0.02
CLIENTS = 16
# Of a crowd, those who never answer.
HANGING = 10
# Longer than `deliver` keeps an idle connection, and no divisor of the two seconds after which it
# gives up on who hangs: otherwise closing and giving up would fall on the next delivery.
BETWEEN, FEWEST_TOLD = 1.3, 4
MAKE_BARE = (
    "CREATE TABLE bare (LIKE trackers_event INCLUDING ALL)",
    "CREATE TABLE bare_staged (LIKE trackers_staged INCLUDING ALL)",
)
BARE = """
    WITH told AS (
        INSERT INTO bare (topic_id, type, t, tweet_id, url, data)
        SELECT 1, 'create', %(t)s, NULL, url, NULL FROM unnest(%(urls)s::text[]) url
        RETURNING id, received_at
    )
    INSERT INTO bare_staged (received_at, events)
    SELECT received_at, array_agg(id) FROM told GROUP BY received_at
"""


@dataclass
class Run:
    """`found`: a figure of each round, by what it is of."""

    receivers: Receivers
    bus: str
    seconds: float
    sets: int
    few: int
    found: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def note(self, name: str, value: float) -> None:
        self.found[name].append(value)


def main(*, control: int, bus: str, broker: str, rounds: int, **size: Any) -> None:
    """`broker`: Redis's address, where Celery's worker listens; empty: it is left out."""
    many, seconds, sets, few, bare = (
        size[name] for name in ("crowd", "seconds", "sets", "few", "bare")
    )
    with Receivers(control) as receivers:
        run = Run(receivers, bus, seconds, sets, few)
        crowds = {
            "sets": crowd("sets", 10, receivers),
            "single": crowd("single", 10, receivers, max_events=1, timeout_ms=0, concurrency=20),
            "posted": crowd("posted", 1, receivers, timeout_ms=names.DEADLINE),
            "paced": crowd("paced", 1, receivers, timeout_ms=names.DEADLINE, max_events=10_000),
            "hanging": crowd("hanging", many, receivers, timeout_ms=0),
        }
        turns: dict[str, Callable[[], None]] = {
            "sets": lambda: in_sets(run, crowds["sets"]),
            "single": lambda: one_by_one(run, crowds["single"]),
            "posted": poster(run, crowds["posted"]),
            "paced": lambda: paced(run, crowds["paced"]),
            "hanging": lambda: hanging(run, crowds["hanging"]),
        }
        if broker:
            turns["celery"] = rivals.turn(run, broker)
        for number in range(rounds):
            for name in list(turns)[:: -1 if number % 2 else 1]:
                turns[name]()
        took = beside_bare(crowds["sets"], bare)
        crowds["sets"].wait_until_received()
        books = {name: difference(one) for name, one in crowds.items()}
    print(json.dumps({"found": run.found, "bare": took, "books": books}))


def in_sets(run: Run, to: Crowd) -> None:
    """Sets of 100 in a transaction each, as fast as they are stored."""
    begun, before = time.perf_counter(), to.published
    to.tell_in_sets(run.sets)
    published = time.perf_counter() - begun
    wait_until_spread()
    spread = time.perf_counter() - begun
    to.wait_until_received()
    received = time.perf_counter() - begun
    many = to.published - before
    run.note(names.PUBLISHED, many / published)
    run.note(names.SPREAD, many / spread)
    run.note(names.DELIVERIES, 10 * many / received)


def one_by_one(run: Run, to: Crowd) -> None:
    """A webhook for each event and subscriber, as Celery sends them."""
    begun = time.perf_counter()
    to.tell_in_sets(1, run.few)
    to.wait_until_received()
    run.note(names.SINGLE, 10 * run.few / (time.perf_counter() - begun))


def poster(run: Run, to: Crowd) -> Callable[[], None]:
    _, token = tokens.make_token("poster")

    def post_and_receive() -> None:
        begun = time.perf_counter()
        posted = asyncio.run(post(f"{run.bus}/topics/{to.topic}", token, run.seconds))
        to.published += posted
        run.note(names.POSTED, posted / (time.perf_counter() - begun))
        to.wait_until_received()
        run.note(names.DELIVERED, posted / (time.perf_counter() - begun))

    return post_and_receive


async def post(address: str, token: str, seconds: float) -> int:
    """By clients side by side, each of which waits for its answer; how many were taken."""
    until, taken = time.monotonic() + seconds, 0
    event = {"type": "create", "url": "https://bench.example/1"}

    async def go_on(session: aiohttp.ClientSession) -> None:
        nonlocal taken
        while time.monotonic() < until:
            async with session.post(address, json=event) as answer:
                answer.raise_for_status()
                taken += 1

    async with aiohttp.ClientSession(auth=aiohttp.BasicAuth(token), trust_env=False) as session:
        await asyncio.gather(*(go_on(session) for _ in range(CLIENTS)))
    return taken


def paced(run: Run, to: Crowd) -> None:
    """So many a second, some in a transaction; from `t` to the receiver."""
    run.receivers.time(True)
    begun = time.monotonic()
    for tick in range(int(run.seconds / TICK)):
        time.sleep(max(0.0, begun + tick * TICK - time.monotonic()))
        to.tell(int(A_SECOND * TICK))
    took = time.monotonic() - begun
    to.wait_until_received()
    lags = sorted(lag for _, lag in run.receivers.lags())
    run.receivers.time(False)
    run.note("events a second while lags were taken", len(lags) / took)
    run.note(names.MEDIAN, lags[len(lags) // 2])
    run.note(names.P95, lags[int(0.95 * len(lags))])


def hanging(run: Run, to: Crowd) -> None:
    """Some events to all of them, while all are well and while some hang; each first in turn."""
    some = set(to.places[: len(to.places) // HANGING])
    phases: list[tuple[str, list[int]]] = [("all well", []), ("a tenth hangs", sorted(some))]
    is_odd = len(run.found[names.HANGING_SHARE]) % 2
    medians = {}
    for name, who in phases[:: -1 if is_odd else 1]:
        # Idle connections are closed by then, so that neither phase has the other's to close.
        time.sleep(BETWEEN)
        run.receivers.hang(who)
        run.receivers.time(True)
        before = run.receivers.events()
        fewest = FEWEST_TOLD if run.seconds >= 1 else 1
        for _ in range(fewest):
            to.tell(1)
            time.sleep(BETWEEN)
        wanted = fewest * (len(to.places) - len(some))
        while others(run, to, some, before) < wanted:
            time.sleep(0.02)
        lags = sorted(lag for place, lag in run.receivers.lags() if place not in some)
        run.receivers.time(False)
        medians[name] = lags[len(lags) // 2]
        run.note(f"from publish to receive, {name}: median of the others", medians[name])
        run.receivers.hang([])
        drain(to)
        to.wait_until_received()
    run.note(names.HANGING_SHARE, medians["a tenth hangs"] / medians["all well"])


def others(run: Run, to: Crowd, some: set[int], before: list[int]) -> int:
    events = run.receivers.events()
    return sum(events[place] - before[place] for place in to.places if place not in some)


def beside_bare(to: Crowd, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of a set, and of the bare rows of one."""
    urls = [f"https://bench.example/{n}" for n in range(100)]
    with cursor() as db:
        for statement in MAKE_BARE:
            db.execute(statement, prepare=False)

    def bare() -> None:
        with cursor() as db:
            db.execute(BARE, {"t": int(1000 * time.time()), "urls": urls})

    return in_turns({"bare": bare, "tell": lambda: to.tell(100)}, rounds=rounds)
