"""One host, a few hundred tweets, and a Postgres of their own that a test may spoil."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager

import pytest

from tests.chaos.answers import figures
from tests.chaos.evidence import read_rows
from tests.chaos.exchanges import Exchanges
from tests.chaos.ground import Ground, Pace, fake_x, wait_until
from tests.chaos.hosts import Host
from tests.chaos.relay import Relays

FEW = Pace(
    tweets=400,
    every=2,
    lease=4.0,
    buffer_ttl=0.3,
    # A request: what a fault may cost at the most is then far from all there is.
    unit=100,
    task_timeout=3,
    latency_ms=50,
    credentials=2,
    windows=10_000.0,
)
WORKERS = 2


class Small:
    """What a test of one spoilt database sees and does."""

    def __init__(self, ground, relays):
        self.ground, self.relays, self.host = ground, relays, None
        self.postgres, self.x = ground.postgres, ground.x

    def start(self, database=None, *, is_saving=True):
        self.host = Host(
            "host", self.ground, self.relays, Exchanges(), workers=WORKERS, database=database
        )
        self.host.start()
        if is_saving:
            self.all_looked_up_after(time.time(), within=30)

    def has_logged(self, *parts):
        """Whether a line of the cluster's log has all of these."""
        lines = self.host.log.read_text(errors="replace").splitlines()
        return any(all(part in line for part in parts) for line in lines)

    def lookups(self):
        entries = self.x.log()
        return [one for one in entries if one["endpoint"] == "GET /2/tweets"]

    def looked_up_after(self, moment):
        lines = [one for one in self.lookups() if one["at_ms"] > moment * 1000]
        return {int(id) for one in lines for id in one["ids"]}

    def all_looked_up_after(self, moment, *, within=None):
        """Every tweet that does not rest, within its interval and two leases."""
        pace = self.ground.pace
        within = within or pace.every * 1.05 + 2 * pace.lease + pace.buffer_ttl + 1
        wait_until(
            lambda: self.looked_up_after(moment) >= self.scheduled(),
            within=within,
            what="every tweet was looked up again",
        )

    def scheduled(self):
        return {key for key, _, _ in read_rows(self.postgres).queue}

    def check_the_books(self, *, most_lost):
        """After the cluster ended: no row lost, nothing twice, and not more lost than in hand."""
        rows = read_rows(self.postgres)
        assert {id for id, _, _ in rows.tweets} == self.ground.ids
        assert all(strikes < 3 and not claimed for _, strikes, claimed in rows.queue)
        answers = Counter(id for line in self.lookups() for id in figures(line))
        assert not Counter(rows.measured) - answers, "a measurement that X never answered"
        lost = (answers - Counter(rows.measured)).total()
        print(f"{answers.total()} answered, {lost} of them not saved")
        assert lost <= most_lost


@contextmanager
def prepared(directory, pace):
    """An installation at that pace, on a server of its own, as X is well."""
    relays = Relays()
    with (directory / "x.log").open("w") as log, fake_x(5, pace.tweets, log=log) as x:
        x.put("world", {"deleted": 0, "protected": 0, "suspended": 0})
        ground = Ground(directory, x, pace)
        made = Small(ground, relays)
        try:
            ground.prepare()
            yield made
        finally:
            if made.host:
                made.host.end()
            ground.postgres.leave()
            relays.close()


@pytest.fixture
def small(tmp_path):
    with prepared(tmp_path, FEW) as made:
        yield made
