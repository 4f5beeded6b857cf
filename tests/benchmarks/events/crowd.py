"""Subscribers of a topic, with a receiver each, and the books of what was published to them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from tests.benchmarks.events.receivers import Receivers
from tests.benchmarks.processes import wait_until
from trackers.events.books import Books, read_books
from trackers.events.models import Subscriber
from trackers.events.subscribers.subscriptions import enroll
from trackers.outbox.publish import NewEvent, publish_events
from tweetwatch.database import cursor

THREADS = 2
# What a busy machine may take for the last delivery.
QUIET_WITHIN = 120.0
SETTLED_WITHIN = 20.0
STAGED = "SELECT EXISTS (SELECT FROM trackers_staged)"
# Whoever waits for his next try has it now, as if he had never failed.
FORGIVE = (
    "UPDATE trackers_subscriberstate SET health = 100, not_before = NULL"
    " WHERE health < 100 OR not_before IS NOT NULL",
    "UPDATE trackers_eventbatch SET deadline = now()"
    " WHERE state = 'early' AND NOT is_current AND deadline > now()",
)


@dataclass
class Crowd:
    """`places`: of its receivers, among all. `published`: events, of which each gets every one."""

    topic: str
    receivers: Receivers
    callbacks: Sequence[str]
    places: Sequence[int]
    published: int = 0

    def tell(self, many: int) -> None:
        """So many events in a transaction, which carry the time of now."""
        now = int(1000 * time.time())
        publish_events(
            [
                NewEvent(self.topic, "create", url=f"https://bench.example/{n}", t=now)
                for n in range(many)
            ]
        )
        self.published += many

    def tell_in_sets(self, sets: int, each: int = 100) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self.tell, [each] * sets))

    def received(self) -> int:
        events = self.receivers.events()
        return sum(events[place] for place in self.places)

    def wait_until_received(self) -> None:
        wait_until(
            lambda: self.received() >= self.published * len(self.places),
            within=QUIET_WITHIN,
            what=f"all events of {self.topic} are received",
        )

    def books(self) -> list[Books]:
        return [one for one in read_books() if one.name.startswith(f"{self.topic}-")]


def crowd(topic: str, many: int, receivers: Receivers, **knobs: Any) -> Crowd:
    begin = len(receivers.events())
    callbacks = receivers.listen(many)
    with transaction.atomic():
        for number, callback in enumerate(callbacks):
            one = Subscriber(name=f"{topic}-{number}", callback=callback, secrets={}, **knobs)
            enroll(one, [topic])
    return Crowd(topic, receivers, callbacks, range(begin, begin + many))


def is_spread() -> bool:
    with cursor() as db:
        row = db.execute(STAGED).fetchone()
    return row is not None and not row[0]


def wait_until_spread() -> None:
    while not is_spread():
        time.sleep(0.01)


def drain(crowd: Crowd) -> None:
    """All of them are well again, and get what waits."""

    def is_drained() -> bool:
        with cursor() as db:
            for statement in FORGIVE:
                db.execute(statement)
        return all(not one.queued for one in crowd.books())

    wait_until(is_drained, within=QUIET_WITHIN, what=f"nothing waits for {crowd.topic}")


def difference(crowd: Crowd) -> int:
    """Published to each, less received and queued; 0, or something is lost or doubled."""
    wait_until(is_spread, within=QUIET_WITHIN, what="all is spread")

    def now() -> int:
        queued = sum(one.queued for one in crowd.books())
        return crowd.published * len(crowd.places) - crowd.received() - queued

    # What was received a moment ago is still on its way in the queue's eyes.
    until = time.monotonic() + SETTLED_WITHIN
    while (found := now()) and time.monotonic() < until:
        time.sleep(0.05)
    return found
