"""Subscribers beside the look-ups: some are well, most of them fail, and two processes deliver.

look-ups ─> events ─> `manage.py deliver`, twice ─> receivers in a process of their own, with books

What must have arrived is told apart from the product: by the tweets' samples, and by the receivers.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
from collections import Counter

from tests.chaos.deliverer import Deliverer
from tests.chaos.ground import wait_until
from tests.chaos.must import Sample, change, of_histories
from tests.chaos.subscribed import (
    DELIVERERS,
    LEAVES,
    NAMES,
    NEWEST,
    PICKY,
    Heard,
    Ledger,
    Subscribed,
)
from tests.conftest import PROJECT

# Of the tweets those with the most likes are told of: a change of each would be thousands a second.
SHARE = 0.02
MAX_EVENTS, TIMEOUT_MS = 20, 200
# A batch of the newest waits as long as a tweet for its next look, so that some changes are
# followed by others in it.
MOST_NEWEST = 1000
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
    SELECT name, added, delivered, dropped, q.events,
           (waiting_batches, waiting_bytes) = (q.batches, q.bytes)
    FROM trackers_subscriber s JOIN trackers_subscriberstate st ON st.subscriber_id = s.id
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(cardinality(events)), 0)::bigint AS events, count(*) AS batches,
               coalesce(sum(bytes), 0) AS bytes
        FROM trackers_eventbatch b WHERE b.subscriber_id = s.id
    ) q
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
# Longer than it takes to make a batch and to try others first.
STARVED = """
    SELECT coalesce(sum(cardinality(events)), 0)::int
    FROM trackers_eventbatch b JOIN trackers_subscriber s ON s.id = subscriber_id
    WHERE s.name = %s AND b.attempts = 0 AND b.made_at < now() - interval '10 s'
"""
MILESTONES = "SELECT metric, at FROM trackers_milestone"
SAMPLES = """
    WITH liked AS MATERIALIZED (SELECT * FROM trackers_tweet WHERE likes >= %s)
    SELECT id, taken_at, ARRAY[retweets, replies, likes, quotes, bookmarks, views]
    FROM liked WHERE measurements > 0
    UNION ALL
    SELECT tweet_id, taken_at, ARRAY[retweets, replies, likes, quotes, bookmarks, views]
    FROM trackers_sample WHERE tweet_id IN (SELECT id FROM liked)
    ORDER BY 1, 2
"""
TRACKED_AND_GONE = """
    SELECT id, tracked_at FROM trackers_tweet WHERE tracked_at > %(since)s
    UNION ALL SELECT id, gone_at FROM trackers_tweet WHERE gone_at > %(since)s
"""


def add_all(callbacks, keys, at_least, every):
    """In one transaction, so that each gets all that is ever told; by `manage.py shell`."""
    from django.db import transaction

    from trackers.events.models import Subscriber
    from trackers.events.subscribers.subscriptions import enroll

    with transaction.atomic():
        for name, callback in callbacks.items():
            row = Subscriber(
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
            enroll(row, ["tweets", "milestones"])


def drop_what_waits(name):
    """As a person does on its page; by `manage.py shell`."""
    from django.db import transaction

    from trackers.events.drop import drop_waiting
    from trackers.events.models import Subscriber

    with transaction.atomic():
        drop_waiting(Subscriber.objects.get(name=name))


def send_again_all(name):
    """As a person does on its page; by `manage.py shell`."""
    from trackers.events.models import Subscriber
    from trackers.events.subscribers import acts
    from trackers.history import by_command

    row = Subscriber.objects.get(name=name)
    for batch in row.batches_set_aside():
        acts.send_again(row, by_command(), batch=batch.uid)


class Subscribers:
    """Starts the receivers and those who deliver to them, and keeps the books of both."""

    def __init__(self, ground, relays, *, seconds):
        self.ground, self.seconds = ground, seconds
        self.deliverers = [Deliverer(number, ground, relays) for number in range(DELIVERERS)]
        self.receivers, self.at_least, self.since, self.starved = None, 0, None, 0

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

    def shell(self, act, **fields):
        program = (
            "import json, sys; from tests.chaos import subscribers;"
            f" subscribers.{act}(**json.load(sys.stdin))"
        )
        self.ground.manage("shell", "-v", "0", "-c", program, stdin=json.dumps(fields))

    def go_on(self, over):
        """One of them wants no more from the middle of the faults on."""
        over.wait(self.seconds / 2)
        self.ask({"do": "leave"})

    def drain(self):
        """When nothing is told any more: all are well, and get what waits for them. What is left
        after that time is told by the book."""
        self.starved = self.ground.postgres.value(STARVED, PICKY)
        self.ask({"do": "heal"})
        self.shell("drop_what_waits", name=LEAVES)
        self.shell("send_again_all", name=PICKY)
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
            starved=self.starved,
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
