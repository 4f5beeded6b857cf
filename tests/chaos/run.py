"""A run: tweets are kept fresh, things break as the schedule says, it heals, the books are read."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import psutil

from tests.chaos import clock
from tests.chaos.channels import Channels
from tests.chaos.evidence import Evidence, read_alarms, read_rows
from tests.chaos.exchanges import Exchanges
from tests.chaos.faults import kinds
from tests.chaos.ground import JITTER, Ground, Pace, fake_x, wait_until
from tests.chaos.homes import Following
from tests.chaos.hosts import Host
from tests.chaos.listening import Listener
from tests.chaos.recounted import recount
from tests.chaos.relay import Relays
from tests.chaos.schedule import schedule
from tests.chaos.strikes import Strikes
from tests.chaos.subscribers import Subscribers
from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH

HOSTS, WORKERS = 3, 3
STOP_WITHIN = 40.0
# The stream waits as X prescribes: after many connects until X's window of them ends.
OPEN_WITHIN = 1_000.0
DELIVERED_WITHIN = 120.0
NAP = 0.1
# How often a fault that found nobody looks for somebody once more, when the others are over.
TRIES = 3

UNMEASURED = """
    SELECT count(*) FROM trackers_tweet WHERE measurements = 0 AND missing_since IS NULL
"""
STRETCH = "SELECT coalesce(max(least(windows, %s)), 1.0) FROM trackers_stretch"


def run(*, seed, minutes, pace=None, directory=None, say=print):
    """Evidence of `minutes` of faults. What was said of the way goes to `say`."""
    pace = pace or Pace()
    directory = Path(directory or mkdtemp(prefix="chaos-"))
    with ExitStack() as stack:
        relays = Relays()
        stack.callback(relays.close)
        log = stack.enter_context((directory / "fakex.log").open("w"))
        tweets = pace.tweets + Following.new_tweets(60.0 * minutes)
        x = stack.enter_context(fake_x(seed, tweets, log=log))
        ground = Ground(directory, x, pace)
        stack.callback(ground.postgres.leave)
        ground.prepare()
        ground.withdraw_keys()
        exchanges = Exchanges()
        hosts = [
            Host(f"host{number}", ground, relays, exchanges, workers=WORKERS)
            for number in range(HOSTS)
        ]
        for host in hosts:
            stack.callback(host.end)
        following = Following(ground, seed, seconds=60.0 * minutes)
        stack.callback(following.end)
        following.prepare()
        listener = Listener(ground)
        stack.callback(listener.end)
        listener.prepare()
        subscribers = Subscribers(ground, relays, seconds=60.0 * minutes)
        stack.callback(subscribers.end)
        channels = Channels(ground, seconds=60.0 * minutes)
        stack.callback(channels.end)
        following.wait_until_ready()
        beside = Beside(listener, following, subscribers, channels)
        return Run(seed, minutes, ground, hosts, beside, exchanges, say).go()


@dataclass(frozen=True, slots=True)
class Beside:
    """Who lives by what is looked up, or beside it."""

    listener: Listener
    following: Following
    subscribers: Subscribers
    channels: Channels


class Run:
    def __init__(self, seed, minutes, ground, hosts, beside, exchanges, say):
        self.ground, self.hosts, self.exchanges, self.say = ground, hosts, exchanges, say
        self.pace, self.listener, self.following = ground.pace, beside.listener, beside.following
        self.subscribers, self.channels = beside.subscribers, beside.channels
        self.strikes = Strikes(
            ground, hosts, self.listener, self.subscribers.deliverers, self.channels
        )
        self.seconds = 60.0 * minutes
        self.planned = schedule(
            seed,
            seconds=self.seconds,
            kinds=kinds(clocks=clock.available(), seconds=self.seconds),
            hosts=len(hosts),
            lease=self.pace.lease,
        )
        self.ended = threading.Event()
        self.lags = []
        if any("failover" in fault.kind.name for fault in self.planned):
            self.ground.postgres.add_standby()

    def go(self):
        keeper = threading.Thread(target=self.supervise, daemon=True)
        keeper.start()
        try:
            busy = self.warm_up()
            happenings = self.strike()
            return self.calm_down(happenings, busy)
        finally:
            self.ended.set()
            keeper.join(5)

    def supervise(self):
        begun = time.time()
        while not self.ended.wait(NAP):
            ended = time.time()
            self.lags.append((ended, max(0.0, ended - begun - NAP)))
            for one in (*self.hosts, self.listener, *self.subscribers.deliverers):
                one.supervise()
            begun = time.time()

    def warm_up(self):
        """Until each tweet was looked up once; how busy the machine is then."""
        begun = time.monotonic()
        for one in (*self.hosts, self.listener):
            one.start()
        wait_until(
            lambda: self.ground.postgres.value(UNMEASURED) == 0,
            within=120 + self.pace.every,
            what="every tweet was looked up once",
        )
        self.channels.add()
        self.subscribers.add()
        busy = measure_load(self.ground.postgres.pid(), seconds=self.pace.every)
        self.say(
            f"{self.pace.tweets:,} tweets are fresh after {time.monotonic() - begun:.0f} s; the "
            f"machine is {busy[0]:.0f} % busy, {busy[1]:.0f} % with this; "
            f"{len(self.planned)} faults begin"
        )
        return busy

    def strike(self):
        begun = time.monotonic()
        self.listener.release(self.seconds)
        lanes = {fault.kind.lane for fault in self.planned}

        def work(lane):
            done = []
            for fault in self.planned:
                if fault.kind.lane == lane:
                    if self.strikes.over.wait(max(0.0, begun + fault.at - time.monotonic())):
                        break
                    done.append(self.strikes.do(fault))
            return done

        beside = (self.following, self.subscribers, self.channels)
        with ThreadPoolExecutor(len(lanes) + len(beside)) as pool:
            try:
                others = [pool.submit(one.go_on, self.strikes.over) for one in beside]
                done_by_lane = [one for done in pool.map(work, sorted(lanes)) for one in done]
                for other in others:
                    other.result()
            except BaseException:
                # The pool waits for every lane, and those for their last fault.
                self.strikes.over.set()
                raise
        happenings = [one if one.happened else self.try_again(one) for one in done_by_lane]
        self.strikes.undo_all()
        return tuple(sorted(happenings, key=lambda one: one.begun_at))

    def try_again(self, happening):
        """On a busy machine a fault may find nobody in its turn: X is not asked while all rest."""
        for _ in range(TRIES):
            if happening.happened:
                break
            happening = self.strikes.do(happening.fault)
        return happening

    def calm_down(self, happenings, busy):
        """Wait as long as a tweet may be late, then stop everything."""
        pace, calm_from = self.pace, time.time()
        self.say("the faults are over, the run waits for quiet")
        # A wait that adapts, and was begun before, is at most this much longer.
        stretch = self.ground.postgres.value(STRETCH, MAX_AT_LEAST_STRETCH) if pace.adapts else 1.0
        time.sleep(JITTER * stretch * pace.every + 2 * pace.lease + pace.buffer_ttl + 3)
        self.following.wait_until_delivered(DELIVERED_WITHIN)
        overdue = self.ground.postgres.value(
            "SELECT count(*) FROM trackers_tweetbucket WHERE due_at < now() - %s * interval '1 s'",
            2 * pace.lease + pace.buffer_ttl,
        )
        calm_until = time.time()
        streamed = self.listener.stop(STOP_WITHIN, open_within=OPEN_WITHIN)
        stops = {host.name: host.stop(STOP_WITHIN) for host in self.hosts}
        self.channels.heal()
        self.subscribers.drain()
        messaged = self.channels.stop()
        subscribed = self.subscribers.stop(STOP_WITHIN)
        return Evidence(
            pace=pace,
            workers=WORKERS,
            ids=self.ground.ids,
            hosts=tuple(host.name for host in self.hosts),
            rows=read_rows(self.ground.postgres),
            exchanges=self.exchanges,
            happenings=happenings,
            planned=self.planned,
            calm_from=calm_from,
            calm_until=calm_until,
            stretch=stretch,
            overdue=overdue,
            stops=stops,
            unasked={host.name: [status for _, status in host.unasked] for host in self.hosts},
            told=self.strikes.told,
            alarms=read_alarms(self.ground.postgres, self.hosts, pace),
            logs={host.name: host.read_log() for host in self.hosts},
            lags=self.lags,
            lines=self.read_log(),
            totals=self.ground.x.get("totals"),
            busy=busy,
            streamed=streamed,
            homes=self.following.walk(),
            subscribed=subscribed,
            messaged=messaged,
            recounted=recount(self.ground),
        )

    def read_log(self):
        """X's log of look-ups, a slice at a time: it computes its answers anew."""
        lines, since = [], 0
        while True:
            page = self.ground.x.get(f"log?since={since}&limit=100")
            if not page["entries"]:
                return lines
            since = page["next"]
            lines += [one for one in page["entries"] if self.is_ours(one)]

    def is_ours(self, entry):
        """A look-up of tracked tweets; not of the one by which a credential is checked."""
        tracked = not self.ground.ids.isdisjoint(map(int, entry["ids"]))
        return entry["endpoint"] == "GET /2/tweets" and tracked


def measure_load(postmaster, *, seconds):
    """Percent of the machine: all of it, and what we, our children and Postgres take of it."""
    begun, before = time.monotonic(), processor_seconds(postmaster)
    whole = psutil.cpu_percent(interval=seconds)
    ours = processor_seconds(postmaster) - before
    return whole, 100 * ours / (time.monotonic() - begun) / psutil.cpu_count()


def processor_seconds(postmaster):
    total = 0.0
    for pid in (None, postmaster):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += sum(one.cpu_times()[:2])
    return total
