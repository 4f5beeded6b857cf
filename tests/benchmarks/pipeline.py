"""The product itself: clusters, a fake X over HTTP, and the load kept above what they can do."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from fakex.world.ids import Ids
from tests.benchmarks import cpu, loading, measuring, ten_homes
from tests.benchmarks.database import PROJECT, Database
from tests.benchmarks.measuring import NOW, Rate
from tests.benchmarks.processes import SEED, World, cluster, wait_until
from tests.benchmarks.workshop import Workshop
from trackers.credentials.models import Credential
from trackers.xapi import client
from trackers.xapi.vocabulary import TWEETS, fields_in
from trackers.xapi.wire.x_client import XClient, client_for

# So many calls of tweepy, or as many as fit into these seconds, tell what one costs.
CALLS = 100
CALLING = 2.0
# All tweets come round as often as this where their interval adapts: more than can be done.
ROUND_A_SECOND = 40_000
WAL = "SELECT pg_current_wal_insert_lsn()"


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a cluster did in a stretch of time, and what it took.

    CPU in microseconds a tweet by group of processes; `memory` is each worker's own, in MB;
    `busy`: how many cores the bench kept busy, its Postgres included; `machine`: everybody did;
    `calibrated`: how many tweets were asked for besides, to know what tweepy's call costs.
    """

    rate: Rate
    cpu: dict[str, float]
    busy: float
    machine: float
    tweepy: float
    calibrated: int
    memory: Sequence[float]
    wal: float

    @property
    def outside(self) -> float:
        """CPU of the workers' Python that is not the call of tweepy."""
        return self.cpu.get("worker", 0.0) - self.tweepy


@contextmanager
def loaded(shop: Workshop, x: World, *, every: str = "1 second") -> Iterator[Database]:
    """All tweets of the fake tracked and due, again a second after each look: never a pause."""
    with shop.databases.fresh() as database:
        loading.load(database, tweets=x.tweets, start_ms=x.start_ms)
        loading.every(database, every)
        yield database


@contextmanager
def adapting(shop: Workshop, x: World) -> Iterator[Database]:
    """The same, with an interval that adapts: each tweet has a pace, and a wait of its own."""
    with loaded(shop, x) as database:
        loading.adapt(database, at_least=timedelta(seconds=max(1, x.tweets // ROUND_A_SECOND)))
        yield database


def stretch(
    shop: Workshop, database: Database, x: World, *, seconds: float, workers: int | None = None
) -> Stretch:
    """Run a cluster for so long, after it has found its pace."""
    workers = workers or shop.size.workers
    with cluster(shop.processes, database, workers=workers, X_API_BASE_URL=x.url) as running:
        time.sleep(min(5.0, seconds / 3))
        groups = {**running.pids(), "fakex": [x.pid]}
        postgres = cpu.postmaster_of(database)
        begin, before = database.value(NOW), cpu.used(groups, postgres=postgres)
        wal = database.value(WAL)
        time.sleep(seconds)
        if shop.size.is_smoke:
            # Only that it works is shown, and on a busy machine a second may pass before it does.
            wait_until(
                lambda: measuring.rate(database, begin=begin, end=database.value(NOW)).measured,
                within=60,
                what="a tweet is measured",
            )
        end, after = database.value(NOW), cpu.used(groups, postgres=postgres)
        wal = int(database.value("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", (wal,)))
        memory = cpu.own_megabytes(running.pids().get("worker", []))
        # Under the same load, or it would look cheaper than it was.
        tweepy, calibrated = tweepy_call(x)
    done = measuring.rate(database, begin=begin, end=end)
    spent = after.since(before)
    a_tweet = 1e6 / max(1, done.measured)
    return Stretch(
        rate=done,
        cpu={name: used * a_tweet for name, used in spent.by_group.items()}
        | {"others": spent.others * a_tweet},
        busy=sum(spent.by_group.values()) / done.seconds,
        machine=spent.machine / done.seconds,
        tweepy=tweepy,
        calibrated=calibrated,
        memory=memory,
        wal=wal / max(1, done.measured),
    )


def lay_out_homes(database: Database, x: World) -> None:
    """All its tweets into ten homes, each of which follows an account as well."""
    # By number, the first write most: these write some thousandths of the tweets each.
    accounts = [one["id"] for one in x.tell("GET", "authors")["authors"]][-ten_homes.HOMES :]
    command = [sys.executable, "-m", "tests.benchmarks.ten_homes", *accounts]
    subprocess.run(command, cwd=PROJECT, env=database.environment, check=True)


def subscribe_to_everything(database: Database) -> None:
    topics = [f"--topic={name}" for name in ("tweets", "milestones", "sources", "alerts")]
    nobody = "--callback=https://nobody.invalid/"
    database.manage("subscriber", "add", "everything", nobody, "--each-change", *topics)


def save_untold(database: Database, *, rounds: int) -> dict[str, list[float]] | None:
    """PostgreSQL's microseconds a tweet for a save with its events, and without; None: it runs on
    another machine."""
    command = [sys.executable, "-m", "tests.benchmarks.untold", str(rounds)]
    done = subprocess.run(
        command, cwd=PROJECT, env=database.environment, check=True, stdout=subprocess.PIPE
    )
    told: dict[str, list[float]] | None = json.loads(done.stdout)
    return told


def make_ready(x: World) -> None:
    """Have the fake write every tweet once: what that takes of the machine, X takes of its own."""
    line = line_of_the_bench(x)
    ids = Ids(seed=SEED, tweets=x.tweets, start_ms=x.start_ms)
    every = ids.between(0, x.tweets)
    while batch := list(islice(every, 100)):
        client.ask_v2(line, batch, TWEETS, fields_in(TWEETS, describes=False))


def tweepy_call(x: World) -> tuple[float, int]:
    """CPU microseconds a tweet of a request for 100 through tweepy, without parsing; how many."""
    line = line_of_the_bench(x)
    ids = [int(id) for id in x.tell("GET", "ids?limit=100")["ids"]]
    client.ask_v2(line, ids, TWEETS, fields_in(TWEETS, describes=False))
    used, begun, calls = time.process_time(), time.monotonic(), 0
    while calls < CALLS and time.monotonic() - begun < CALLING:
        client.ask_v2(line, ids, TWEETS, fields_in(TWEETS, describes=False))
        calls += 1
    used = time.process_time() - used
    return used / calls / len(ids) * 1e6, (calls + 1) * len(ids)


def line_of_the_bench(x: World) -> XClient:
    secrets = {"bearer_token": "a-token-of-the-bench"}
    credential = Credential(name="calibration", kind="bearer", api="v2", secrets=secrets)
    return client_for(credential, x.url, timedelta(seconds=10))
