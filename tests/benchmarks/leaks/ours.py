"""The product's own polls of a world's listings, step by step, as the cluster takes them.

Beside each step stands what X's log says that it showed and billed.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from fakex.account.callers import fingerprint
from tests.benchmarks.leaks.naive import BEARER, PAGES
from tests.benchmarks.leaks.world import LIST, LISTINGS, TAG, SkewedTime, World
from trackers import tasks
from trackers.ingest.cursor import next_since_id
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source
from trackers.jobs import queue

MILLISECOND = timedelta(milliseconds=1)
# What nobody waits for is due a second later.
A_MOMENT = timedelta(seconds=1.1)


class Ours:
    """The product's sources, and what X's log says each of their readings was shown."""

    def __init__(self, x: World, clock: SkewedTime) -> None:
        self.x, self.clock, self.naive = x, clock, fingerprint(BEARER)
        people = x.people()
        x.put(f"lists/{LIST}", {"members": [people[2][0]]})
        of = (people[0][1], f"#{TAG}", str(LIST))
        self.listings = {listing.kind: listing for listing in LISTINGS}
        self.ids: dict[int, str] = {}
        self.shown: dict[tuple[str, str], Counter[int]] = {}
        # By kind: the floor of the next poll, and what was first shown below it.
        self.floors: Counter[str] = Counter()
        self.leaked: dict[str, set[int]] = {}
        self.pages: Counter[str] = Counter()
        self.without_time: Counter[str] = Counter()
        self.billed = 0
        self.billable: set[tuple[str, int]] = set()
        for listing, name in zip(LISTINGS, of, strict=True):
            source = Source(
                kind=listing.kind,
                of=name,
                every=timedelta(minutes=1),
                pages=100,
                backfill=timedelta(hours=1),
            )
            life.add_source(source)
            self.ids[source.pk] = listing.kind
            self.leaked[listing.kind] = set()
            for purpose in ("poll", "overlap"):
                self.shown[listing.kind, purpose] = Counter()

    def poll(self) -> None:
        """A poll of each, and the overlaps that are due after it."""
        life.poll_now(self.ids)
        while self.step() or Source.objects.exclude(sweep=None).exists():
            pass

    def step(self) -> bool:
        """What is due; when nothing is, a moment passes."""
        batch = queue.get("source:poll")
        if batch is None:
            if Source.objects.exclude(sweep=None).exists():
                self.clock.pass_(A_MOMENT)
            return False
        polled = tasks.poll_batch(batch)
        if polled.failed:
            raise RuntimeError(f"{polled.source}: {polled.outcome}")
        kind, purpose = self.ids[batch.keys[0]], polled.outcome.partition(",")[0]
        for entry in self.x.requests_since():
            if entry["token"] != self.naive and entry["endpoint"] in PAGES:
                self.take(kind, purpose, entry)
        if purpose == "poll" and polled.stored is not None and polled.stored.is_over:
            self.pass_by(kind, Source.objects.get(pk=batch.keys[0]))
        return True

    def take(self, kind: str, purpose: str, entry: dict[str, Any]) -> None:
        """What X says it showed and billed."""
        self.pages[kind] += 1
        self.billed += entry["billed_posts"]
        ids = [int(id) for id in entry["shown"]]
        self.billable.update((entry["billed_day"], id) for id in ids)
        polls, overlaps = self.shown[kind, "poll"], self.shown[kind, "overlap"]
        new = [id for id in ids if id not in polls and id not in overlaps]
        self.leaked[kind].update(id for id in new if id <= self.floors[kind])
        self.shown[kind, purpose].update(ids)

    def pass_by(self, kind: str, source: Source) -> None:
        """The poll is over: the next one reads nothing below this."""
        listing = self.listings[kind]
        self.without_time[kind] += source.asked_at_ms is None
        asked_ms = (source.asked_at_ms or 0) - listing.lag // MILLISECOND
        floor = next_since_id(source.latest_id, asked_ms, k_ms=listing.k // MILLISECOND)
        self.floors[kind] = max(self.floors[kind], floor)
