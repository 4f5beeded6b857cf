"""Subscribers beside the look-ups: some are well, most of them fail, and two processes deliver.

look-ups ─> events ─> `manage.py deliver`, twice ─> receivers in a process of their own, with books

What must have arrived is told apart from the product: by the tweets' samples, and by the receivers.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.chaos.ground import ROLE, wait_until
from tests.chaos.hosts import RESTART_AFTER, send
from tests.chaos.must import Sample, change, of_histories
from tests.conftest import PROJECT

# How each treats what comes (see `receiving_process`). "leaves" answers 410 from the middle on.
WELL = ("healthy", "newest")
FAILING = ("fails", "hangs", "drips", "resets", "waits")
LEAVES = "leaves"
NAMES = (*WELL, *FAILING, LEAVES)
# Gets the newest of what waits, one batch after the other.
NEWEST = "newest"
DELIVERERS = 2
# Of the tweets those with the most likes are told of: a change of each would be thousands a second.
SHARE = 0.02
MAX_EVENTS, TIMEOUT_MS = 20, 200
# A batch of the newest waits as long as a tweet for its next look, so that some changes are
# followed by others in it.
MOST_NEWEST = 1000
TOTAL, BACKOFF_MOST = 2, 2
DRAINED_WITHIN = 60.0

MOST_LIKED = """
    SELECT coalesce(percentile_disc(%s) WITHIN GROUP (ORDER BY likes), 0) FROM trackers_tweet
"""
# Everything that was told and that they want: nobody subscribed before them.
TOLD = """
    SELECT CASE topic.name
           WHEN 'milestones' THEN format('milestones %%s %%s %%s', tweet_id, data ->> 'metric',
                                         data ->> 'at')
           ELSE format('tweets %%s %%s', tweet_id, t) END
    FROM trackers_event e JOIN trackers_topic topic ON topic.id = e.topic_id
    WHERE topic.name IN ('tweets', 'milestones') AND (figures IS NULL OR figures[9] >= %s)
"""
LEDGERS = """
    SELECT name, added, delivered, dropped, coalesce((
               SELECT sum(cardinality(events))::bigint FROM trackers_eventbatch b
               WHERE b.subscriber_id = s.id), 0)
    FROM trackers_subscriber s JOIN trackers_subscriberstate ON subscriber_id = s.id
"""
SETTLED = """
    SELECT name, uid::text, cardinality(events)
    FROM trackers_attempt JOIN trackers_subscriber s ON s.id = subscriber_id
    WHERE outcome = 'delivered'
"""
OUTCOMES = "SELECT outcome, count(*) FROM trackers_attempt GROUP BY outcome"
WAITING = """
    SELECT (SELECT count(*) FROM trackers_staged) + (
        SELECT count(*) FROM trackers_eventbatch b JOIN trackers_subscriber s
        ON s.id = subscriber_id WHERE name <> 'leaves' OR state = 'pending')
"""
MILESTONES = "SELECT metric, at FROM trackers_milestone"
SAMPLES = """
    WITH liked AS MATERIALIZED (SELECT * FROM trackers_tweet WHERE likes >= %s)
    SELECT id, taken_at, ARRAY[retweets, replies, likes, quotes, bookmarks, impressions]
    FROM liked WHERE measurements > 0
    UNION ALL
    SELECT tweet_id, taken_at, ARRAY[retweets, replies, likes, quotes, bookmarks, impressions]
    FROM trackers_sample WHERE tweet_id IN (SELECT id FROM liked)
    ORDER BY 1, 2
"""
TRACKED_AND_GONE = """
    SELECT id, tracked_at FROM trackers_tweet WHERE tracked_at > %(since)s
    UNION ALL SELECT id, gone_at FROM trackers_tweet WHERE gone_at > %(since)s
"""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Of one subscriber, in events, as the product counts them."""

    added: int
    delivered: int
    dropped: int
    queued: int


@dataclass(frozen=True, slots=True)
class Heard:
    """By a receiver. `accepted`: what it answered with a 2xx, by webhook-id, and how many events
    that were. `did`: how often it was how. `faults`: what was wrong with what came."""

    accepted: dict[str, int]
    events: frozenset[str]
    did: Counter
    faults: Counter


@dataclass(frozen=True)
class Subscribed:
    """`told`: every event that was stored for them. `must`: those of which the tweets' histories
    say so. `settled`: by subscriber, webhook-id and events of each attempt that counts as
    delivered. `exits`: of processes that nobody had killed, other than 0 by SIGTERM; `stops`: when
    they were told to end at last."""

    ledgers: dict[str, Ledger]
    heard: dict[str, Heard]
    told: list[str]
    must: frozenset[str]
    settled: dict[str, list[tuple[str, int]]]
    outcomes: Counter = field(default_factory=Counter)
    exits: tuple[int, ...] = ()
    stops: tuple[int | None, ...] = (0,) * DELIVERERS

    @property
    def figures(self):
        return {
            "told": len(self.told),
            "must have been told": len(self.must),
            "attempts": dict(sorted(self.outcomes.items())),
            "failed on purpose": {
                name: sum(self.heard[name].did.values()) - self.heard[name].did["good"]
                for name in (*FAILING, LEAVES)
            },
            **{
                name: f"{one.added:,} = {one.delivered:,} delivered + {one.queued:,} queued"
                f" + {one.dropped:,} dropped; {len(self.heard[name].events):,} received"
                for name, one in self.ledgers.items()
            },
        }

    def differs(self):
        told = set(self.told)
        for name in NAMES:
            yield from (f"{name}: {line}" for line in self.differs_of(name, told))
        if unheard := self.must - told:
            yield (
                f"{len(unheard)} changes in the tweets' histories were never told,"
                f" as {min(unheard)}"
            )
        if not self.must:
            yield "the tweets' histories have no change"
        if self.exits:
            yield f"deliverers ended with {list(self.exits)} unasked"
        if any(one != 0 for one in self.stops):
            yield f"deliverers ended with {list(self.stops)} when told"

    def differs_of(self, name, told):
        ledger, heard, settled = self.ledgers[name], self.heard[name], self.settled.get(name, [])
        if ledger.added != ledger.delivered + ledger.dropped + ledger.queued:
            yield f"added is not delivered + dropped + queued: {ledger}"
        if ledger.delivered != sum(size for _, size in settled):
            yield f"delivered is not the sum of its attempts, {sum(size for _, size in settled)}"
        if twice := [uid for uid, count in Counter(uid for uid, _ in settled).items() if count > 1]:
            yield f"{len(twice)} batches were delivered twice, as {min(twice)}"
        if claimed := [uid for uid, size in settled if heard.accepted.get(uid) != size]:
            yield f"{len(claimed)} batches count as delivered and were not, as {min(claimed)}"
        yield from (f"{count} times {what}" for what, count in heard.faults.items())
        if strange := heard.events - told:
            yield f"{len(strange)} events that nobody told, as {min(strange)}"
        if name == LEAVES:
            if not ledger.dropped:
                yield "nothing was dropped of what waited for it"
        else:
            if ledger.queued or ledger.dropped:
                yield "not all of it was delivered once it was well"
            if lost := self.due_to(name, told) - heard.events:
                yield f"{len(lost)} events never came, as {min(lost)}"
        if name != NEWEST and ledger.added != len(self.told):
            yield f"{ledger.added:,} were added of {len(self.told):,} that were told"
        if name not in WELL and not heard.did[name if name != LEAVES else "gone"]:
            yield "it never failed"

    def due_to(self, name, told):
        """What one has to have received when all is calm."""
        if name != NEWEST:
            return told
        last = {}
        for _, tweet, t in (one.split() for one in told if one.startswith("tweets ")):
            last[tweet] = max(last.get(tweet, 0), int(t))
        milestones = {one for one in told if one.startswith("milestones ")}
        return milestones | {f"tweets {tweet} {t}" for tweet, t in last.items()}


def add_all(callbacks, keys, at_least, every):
    """In one transaction, so that each gets all that is ever told; by `manage.py shell`."""
    from django.db import transaction

    from trackers.events.models import Subscriber
    from trackers.events.subscribers import subscribe

    with transaction.atomic():
        for name, callback in callbacks.items():
            one = Subscriber(
                name=name,
                callback=callback,
                secrets={"signing": [keys[name]]},
                max_events=MOST_NEWEST if name == NEWEST else MAX_EVENTS,
                timeout_ms=1000 * every if name == NEWEST else TIMEOUT_MS,
                ordered=name == NEWEST,
                newest_only=name == NEWEST,
                metric="likes",
                at_least=at_least,
            )
            subscribe.add(one, ["tweets", "milestones"])


def drop_what_waits(name):
    """As a person does on its page; by `manage.py shell`."""
    from django.db import transaction

    from trackers.events.models import Subscriber
    from trackers.events.subscribers import subscribe

    with transaction.atomic():
        subscribe.empty(Subscriber.objects.get(name=name))


class Deliverer:
    """`manage.py deliver`, which knows no other way to the database than its relay; `supervise`
    restarts it when it ended, as systemd does."""

    def __init__(self, number, ground, relays):
        self.name, self.ground = f"deliverer{number}", ground
        self.database = relays.make(ground.postgres.socket)
        self.log = ground.directory / f"{self.name}.log"
        self.process, self.ended_at, self.exits = None, 0.0, []
        self.wanted, self.expected, self.lock = False, None, threading.Lock()

    def environment(self):
        where = f"postgres://{ROLE}:@127.0.0.1:{self.database.port}/tweetwatch?sslmode=disable"
        return self.ground.environment | {
            "DATABASE_URL": where,
            "EGRESS_ALLOW": "127.0.0.0/8",
            "EGRESS_PLAIN_HTTP": "true",
            "BUS_CONNECT_TIMEOUT": "1",
            "BUS_TOTAL_TIMEOUT": str(TOTAL),
            "BUS_BACKOFF_MOST": str(BACKOFF_MOST),
            "BUS_SCRUB_AFTER": f"{self.ground.pace.lease:g}",
        }

    def start(self):
        self.wanted = True
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "deliver", "--slots", "200"],
                cwd=PROJECT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def supervise(self):
        with self.lock:
            if self.process is None:
                if self.wanted and time.time() - self.ended_at >= RESTART_AFTER:
                    self.start()
                return
            status = self.process.poll()
            if status is not None:
                if (
                    self.expected != signal.SIGKILL
                    and self.wanted
                    and (status or not self.expected)
                ):
                    self.exits.append(status)
                self.process, self.ended_at, self.expected = None, time.time(), None

    def end_by(self, number):
        """Send it a signal that ends it; whether there was one."""
        process = self.at_work()
        if process is None:
            return False
        self.expected = number
        return send(process.pid, number)

    def freeze(self):
        """SIGSTOP it; whether there was one."""
        process = self.at_work()
        return process is not None and send(process.pid, signal.SIGSTOP)

    def at_work(self):
        """The process, once it has a connection of the database: one that is still loading its
        code ends by SIGTERM as any program does, and has nothing to finish."""
        return self.process if self.database.sides else None

    def thaw(self):
        if (process := self.process) is not None:
            send(process.pid, signal.SIGCONT)

    def stop(self, within):
        """SIGTERM; the exit status, None when it did not end."""
        with self.lock:
            process, self.process, self.wanted = self.process, None, False
        if process is None:
            return 0
        process.terminate()
        try:
            return process.wait(within)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.wait(10)

    def end(self):
        self.wanted = False
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)


class Subscribers:
    """Starts the receivers and those who deliver to them, and keeps the books of both."""

    def __init__(self, ground, relays, *, seconds):
        self.ground, self.seconds = ground, seconds
        self.deliverers = [Deliverer(number, ground, relays) for number in range(DELIVERERS)]
        self.receivers, self.at_least, self.since = None, 0, None

    def add(self):
        """Once each tweet was measured: the most liked ones are known then."""
        keys = {name: signing_key() for name in NAMES}
        self.start_receivers()
        ports = self.ask(
            {name: {"manner": name, "key": keys[name], "ordered": name == NEWEST} for name in NAMES}
        )
        callbacks = {name: f"http://127.0.0.1:{port}/hook" for name, port in ports.items()}
        self.at_least = int(self.ground.postgres.value(MOST_LIKED, 1 - SHARE))
        every = self.ground.pace.every
        self.shell("add_all", callbacks=callbacks, keys=keys, at_least=self.at_least, every=every)
        self.since = self.ground.postgres.value("SELECT clock_timestamp()")
        for one in self.deliverers:
            one.start()

    def start_receivers(self):
        with (self.ground.directory / "receivers.log").open("ab") as log:
            self.receivers = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.receiving_process"],
                cwd=PROJECT,
                env=os.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def ask(self, what):
        self.receivers.stdin.write(json.dumps(what) + "\n")
        self.receivers.stdin.flush()
        line = self.receivers.stdout.readline()
        if not line:
            log = (self.ground.directory / "receivers.log").read_text(errors="replace")
            raise RuntimeError(f"the receivers have ended: {log[-2000:]}")
        return json.loads(line)

    def shell(self, act, **given):
        program = (
            "import json, sys; from tests.chaos import subscribers;"
            f" subscribers.{act}(**json.load(sys.stdin))"
        )
        self.ground.manage("shell", "-v", "0", "-c", program, given=json.dumps(given))

    def go_on(self, over):
        """One of them wants no more from the middle of the faults on."""
        over.wait(self.seconds / 2)
        self.ask({"do": "leave"})

    def drain(self):
        """When nothing is told any more: all are well, and get what waits for them. What is left
        after that time is told by the book."""
        self.ask({"do": "heal"})
        self.shell("drop_what_waits", name=LEAVES)
        try:
            wait_until(
                lambda: not self.ground.postgres.value(WAITING),
                within=DRAINED_WITHIN,
                what="all is delivered",
            )
        except TimeoutError:
            return

    def stop(self, within):
        """What they had, once nobody delivers any more."""
        stops = tuple(one.stop(within) for one in self.deliverers)
        rows, heard = self.ground.postgres.rows, self.ask({"do": "tell"})
        settled = {}
        for name, uid, size in rows(SETTLED):
            settled.setdefault(name, []).append((uid, size))
        return Subscribed(
            ledgers={name: Ledger(*figures) for name, *figures in rows(LEDGERS)},
            heard={name: heard_by(one) for name, one in heard.items()},
            told=[key for (key,) in rows(TOLD, self.at_least)],
            must=self.must_be_told(rows),
            settled=settled,
            outcomes=Counter(dict(rows(OUTCOMES))),
            exits=tuple(status for one in self.deliverers for status in one.exits),
            stops=stops,
        )

    def must_be_told(self, rows):
        changes = of_histories(
            map(Sample._make, rows(SAMPLES, self.at_least)),
            since=self.since,
            at_least=self.at_least,
            milestones=rows(MILESTONES),
        )
        with self.ground.postgres.connect() as db:
            found = db.execute(TRACKED_AND_GONE, {"since": self.since}).fetchall()
        return frozenset(changes | {change(tweet, at) for tweet, at in found})

    def end(self):
        for one in self.deliverers:
            one.end()
        if self.receivers is not None:
            self.receivers.kill()
            self.receivers.wait(10)
            self.receivers.stdin.close()
            self.receivers.stdout.close()


def heard_by(told):
    return Heard(
        told["accepted"], frozenset(told["events"]), Counter(told["did"]), Counter(told["faults"])
    )


def signing_key():
    """As Standard Webhooks has them."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
