"""How each fault is done and undone; what came of it is a `Happening`."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice

import psycopg

from tests.chaos.faults import PARAMS, REFUSED, TIMES, UNPAID
from tests.chaos.ground import ROLE
from tests.chaos.hosts import send
from tests.chaos.schedule import Fault
from tests.conftest import FakeX

VICTIM_WITHIN = 20.0
FIRED_WITHIN = 15.0
# A task's time-out and the margin that a cluster gives itself, and some.
ENDED_WITHIN = 30.0
HOUR = 3600

FULL_DISK = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON trackers_tweet
    FOR EACH ROW EXECUTE FUNCTION full_disk();
"""
# What makes a database that is there and cannot save, and what mends it.
CANNOT_SAVE = {
    # What PostgreSQL raises where a table cannot be extended.
    "a full disk": (FULL_DISK, "DROP FUNCTION full_disk CASCADE"),
    # Workers that were restarted before `migrate`.
    "a missing column": (
        "ALTER TABLE trackers_tweet RENAME COLUMN pace TO pace_to_come",
        "ALTER TABLE trackers_tweet RENAME COLUMN pace_to_come TO pace",
    ),
}


@dataclass(frozen=True, slots=True)
class Happening:
    """`host` empty: everybody's. Times are epoch seconds; `because`: why it did not happen."""

    fault: Fault
    host: str
    begun_at: float
    ended_at: float
    because: str = ""

    @property
    def happened(self):
        return not self.because


class NoVictimError(Exception):
    """Nobody was as the fault wants him."""


class Strikes:
    """Does faults to the hosts, to the stream, to who delivers, to Postgres and to X. `over` ends
    what lasts, early."""

    def __init__(self, ground, hosts, listener, deliverers, channels):
        self.ground, self.hosts, self.listener = ground, hosts, listener
        self.deliverers, self.channels = deliverers, channels
        self.x = FakeX(ground.x.url)
        self.over = threading.Event()
        self.told = []

    def do(self, fault):
        """Do it, wait as long as it lasts, undo it."""
        begun_at, host, because = time.time(), "", ""
        try:
            with self.begun(fault) as host:
                begun_at = time.time()
                if fault.seconds:
                    self.over.wait(fault.seconds)
        except NoVictimError as error:
            because = str(error)
        lasts = fault.seconds or fault.kind.lane == "x" or "SIGTERM" in fault.kind.name
        ended_at = time.time() if lasts else begun_at
        return Happening(fault, host, begun_at, ended_at, because)

    def begun(self, fault):
        name = fault.kind.name
        match fault.kind.lane:
            case "process":
                return self.terminated(fault) if "SIGTERM" in name else self.killed(fault)
            case "stop" if name == "stop the whole cluster":
                return self.stopped_cluster(fault)
            case "stop":
                return self.stopped(fault)
            case "network":
                return self.network(fault)
            case "database":
                return self.killed_postgres() if name == "kill Postgres" else self.filled()
            case "saves" if name in CANNOT_SAVE:
                return self.not_saving(*CANNOT_SAVE[name])
            case "saves":
                return self.failed_over()
            case "clock":
                return self.shifted(fault)
            case "stream":
                return self.streamed(fault)
            case "deliver":
                return self.delivered(fault)
            case _:
                return self.failing_x(fault)

    def in_order(self, fault):
        return [self.hosts[place] for place in fault.hosts]

    def victim(self, fault, find):
        """The first host, of the one that is meant and then the others, where `find` finds."""
        end = time.monotonic() + VICTIM_WITHIN
        while time.monotonic() < end and not self.over.is_set():
            for host in self.in_order(fault):
                if found := find(host):
                    return host, found
            time.sleep(0.02)
        raise NoVictimError(f"nobody to {fault.kind.name} within {VICTIM_WITHIN:g} s")

    @contextmanager
    def killed(self, fault) -> Iterator[str]:
        yield self.kill(fault)

    def kill(self, fault):
        name = fault.kind.name
        if name == "kill the whole cluster":
            host, _ = self.victim(fault, lambda each: each.find("sentinel") and each.kill())
            return host.name
        kind = name.rpartition("kill ")[2].removeprefix("the ")
        kind = "worker" if "worker" in kind else kind
        busy = {"busy": True, "idle": False, "any": None}[fault.kind.busy]
        if kind == "main":
            host, pids = self.victim(
                fault, lambda each: each.find("sentinel") and each.find("main")
            )
            pid = pids[0]
        else:
            host, pid = self.victim(fault, lambda each: each.freeze(kind, busy=busy))
        if kind in ("main", "sentinel"):
            host.expected = True
        send(pid, signal.SIGKILL)
        return host.name

    @contextmanager
    def terminated(self, fault) -> Iterator[str]:
        """To every process of main's group, as a terminal or an init does; until it has ended."""
        host, (pid, *_) = self.victim(fault, lambda one: one.find("sentinel") and one.find("main"))
        host.expected, known = True, len(host.exits)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGTERM)
        yield host.name
        end = time.monotonic() + ENDED_WITHIN
        while len(host.exits) == known and time.monotonic() < end and not self.over.is_set():
            time.sleep(0.05)
        if len(host.exits) == known:
            raise NoVictimError(f"{host.name} did not end within {ENDED_WITHIN:g} s of SIGTERM")
        self.told.append(host.exits[known][1])

    @contextmanager
    def stopped(self, fault) -> Iterator[str]:
        kind = "pusher" if "pusher" in fault.kind.name else "worker"
        busy = {"busy": True, "idle": False, "any": None}[fault.kind.busy]
        host, pid = self.victim(fault, lambda one: one.freeze(kind, busy=busy))
        try:
            yield host.name
        finally:
            send(pid, signal.SIGCONT)

    @contextmanager
    def stopped_cluster(self, fault) -> Iterator[str]:
        host, pids = self.victim(fault, lambda one: one.find("sentinel") and one.family())
        for pid in pids:
            send(pid, signal.SIGSTOP)
        try:
            yield host.name
        finally:
            for pid in pids:
                send(pid, signal.SIGCONT)

    @contextmanager
    def network(self, fault) -> Iterator[str]:
        host, name = self.in_order(fault)[0], fault.kind.name
        relay = host.database if "database" in name else host.x
        if "cut off" in name:
            relay.cut()
        elif "dropped" in name:
            relay.drop()
        elif "stalled" in name:
            relay.stall()
        elif relay is host.x:
            relay.slow(delay=0.2, bandwidth=300_000)
        else:
            relay.slow(delay=0.05, bandwidth=1_000_000)
        try:
            yield host.name
        finally:
            relay.heal()

    @contextmanager
    def killed_postgres(self) -> Iterator[str]:
        with self.ground.postgres.lock:
            if not self.ground.postgres.kill():
                raise NoVictimError("Postgres did not run")
            yield ""
            self.ground.postgres.wait()

    @contextmanager
    def not_saving(self, begin, end) -> Iterator[str]:
        self.execute(begin)
        try:
            yield ""
        finally:
            self.execute(end)

    def execute(self, statements):
        with self.ground.postgres.lock, self.ground.postgres.connect() as db:
            db.execute(statements)

    @contextmanager
    def failed_over(self) -> Iterator[str]:
        with self.ground.postgres.lock:
            self.ground.postgres.fail_over()
        yield ""

    @contextmanager
    def filled(self) -> Iterator[str]:
        """Every connection that the limit allows is ours, and the product's own are ended."""
        taken, end = [], time.monotonic() + 5.0
        try:
            while not self.fill(taken):
                if time.monotonic() > end:
                    raise NoVictimError("the connections were never all taken")
            yield ""
        finally:
            for connection in taken:
                connection.close()

    def fill(self, taken):
        """Take what is free and end what is not ours; whether all of them are."""
        with suppress(psycopg.OperationalError):
            while True:
                taken.append(self.ground.postgres.connect(ROLE))
        mine = [connection.info.backend_pid for connection in taken]
        try:
            return not self.ground.postgres.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE usename = %s AND pid <> ALL (%s)",
                *(ROLE, mine),
            )
        except psycopg.OperationalError:
            return False

    @contextmanager
    def shifted(self, fault) -> Iterator[str]:
        host = self.in_order(fault)[0]
        host.clock.shift(HOUR if "ahead" in fault.kind.name else -HOUR)
        try:
            yield host.name
        finally:
            host.clock.shift(0)

    @contextmanager
    def streamed(self, fault) -> Iterator[str]:
        """What befalls the stream, once it is open."""
        self.victim(fault, lambda _: self.x.get("stream")["open"])
        if "rule" in fault.kind.name:
            self.x.tell("POST", "stream/lose_rules", {})
        elif "cut" in fault.kind.name:
            self.x.tell("POST", "stream/cut", {"half": True})
        elif not self.listener.kill():
            raise NoVictimError("no process listened")
        yield "the stream"

    @contextmanager
    def delivered(self, fault) -> Iterator[str]:
        struck = self.struck(fault)
        try:
            yield "deliverers"
        finally:
            for one in struck:
                one.thaw()
                one.database.heal()

    def struck(self, fault):
        """The first deliverer that runs, of the one that is meant and then the other; or all."""
        name, end = fault.kind.name, time.monotonic() + VICTIM_WITHIN
        first = fault.hosts[0] % len(self.deliverers)
        order = self.deliverers[first:] + self.deliverers[:first]
        while time.monotonic() < end and not self.over.is_set():
            if "mid-send" in name and not self.channels.is_sending():
                time.sleep(0.02)
                continue
            found = (one for one in order if strike(one, name))
            if struck := list(found if "every" in name else islice(found, 1)):
                return struck
            time.sleep(0.02)
        raise NoVictimError(f"nobody to strike: {name}, within {VICTIM_WITHIN:g} s")

    @contextmanager
    def failing_x(self, fault) -> Iterator[str]:
        kind = fault.kind.name.removeprefix("X: ")
        # One is enough to stop the project, and then nobody asks.
        times = 1 if kind in UNPAID else TIMES
        rule = {
            "kind": kind,
            "times": times,
            "match": {"endpoint": "GET /2/tweets"},
            "params": PARAMS.get(kind, {}),
        }
        self.x.put("faults", [rule])
        try:
            end = time.monotonic() + FIRED_WITHIN
            while (fired := self.x.get("faults")["rules"][0]["fired"]) < times:
                if time.monotonic() > end or self.over.is_set():
                    break
                time.sleep(0.1)
            if not fired:
                raise NoVictimError("X was not asked")
            yield ""
        finally:
            self.x.delete("faults")
            if kind in UNPAID:
                self.ground.buy_credits(self.over)
            if kind in REFUSED:
                self.ground.enable_credentials(self.over)

    def undo_all(self):
        self.over.set()
        self.x.delete("faults")
        for host in self.hosts:
            host.database.heal()
            host.x.heal()
            host.clock.shift(0)
            for pid in host.family():
                send(pid, signal.SIGCONT)
        for one in self.deliverers:
            one.database.heal()
            one.thaw()


def strike(deliverer, name):
    """Whether it ran."""
    if "cut off" in name:
        if at_work := deliverer.at_work():
            deliverer.database.cut()
        return at_work is not None
    if "stop" in name:
        return deliverer.freeze()
    return deliverer.end_by(signal.SIGTERM if "SIGTERM" in name else signal.SIGKILL)
