"""Several connections and processes on one queue."""

import os
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError
from django.utils import timezone

from tests.conftest import PROJECT
from tests.jobs.conftest import NAME
from tests.together import together
from trackers.jobs import queue
from trackers.schedule import tweet_changes
from trackers.schedule.intervals import Plan
from trackers.tweets.models import Tweet
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict

NOW = timedelta(0)


def test_four_processes_claim_each_key_exactly_once_per_due_time(fresh_database):
    with psycopg.connect(fresh_database) as db:
        db.execute(
            "INSERT INTO trackers_tweetupdate (key, due_at, stamp)"
            " SELECT n, now(), n / 100 FROM generate_series(1, 5000) n"
        )
        db.execute(
            "INSERT INTO trackers_tweetbucket (due_at, stamp, keys)"
            " SELECT now(), stamp, array_agg(key) FROM trackers_tweetupdate GROUP BY stamp"
        )
        db.execute("UPDATE trackers_queue SET arrivals_per_second = 1000000")
    drains = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.jobs.drain"],
            cwd=PROJECT,
            env={**os.environ, "DATABASE_URL": fresh_database},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]

    output = [drain.communicate(timeout=60)[0].split() for drain in drains]

    assert [drain.returncode for drain in drains] == [0] * 4
    claimed = Counter(int(key) for keys in output for key in keys)
    assert set(claimed.values()) == {1}
    assert set(claimed) == {*range(1, 5001), *range(10_001, 15_001)}
    assert sum(map(bool, output)) > 1


@pytest.mark.django_db(transaction=True)
def test_two_claims_at_the_same_time_share_nothing(committed_jobs):
    queue.schedule_many(NAME, [(key, -timedelta(hours=1)) for key in range(500)])
    collected = []

    def claim():
        # None: the other one has the last bucket in its hands.
        while sum(len(batch.keys) for batch in collected if batch) < 500:
            collected.append(queue.get(NAME, 25))

    assert together(claim, claim) == []

    keys = [key for batch in collected if batch for key in batch.keys]
    assert len(keys) == len(set(keys)) == 500


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "act",
    [
        "schedule_many",
        *(pytest.param(act, marks=pytest.mark.more) for act in ("check_now", "pause")),
    ],
)
def test_saving_and_rescheduling_never_deadlock(committed_jobs, act):
    ids = list(range(1, 2001))
    Tweet.objects.bulk_create(Tweet(id=id, tracked_at=timezone.now()) for id in ids)
    acts = {
        "schedule_many": lambda: queue.schedule_many(NAME, [(id, NOW) for id in reversed(ids)]),
        "check_now": lambda: tweet_changes.check_now(reversed(ids)),
        "pause": lambda: (
            tweet_changes.pause_tweets(reversed(ids)),
            tweet_changes.resume_tweets(ids),
        ),
    }

    def save_all():
        while time.monotonic() < ends:
            if batch := queue.get(NAME, 1000):
                # Every second one rests: so the statement both updates and deletes.
                verdicts = [Verdict(key, due_in=NOW if key % 2 else None) for key in batch.keys]
                save_batch(batch, [Judged(verdicts, at=batch.claimed_at)], Plan(()))
                queue.schedule_many(NAME, ((key, NOW) for key in batch.keys if key % 2 == 0))

    def steer_all():
        while time.monotonic() < ends:
            acts[act]()

    queue.schedule_many(NAME, [(id, -timedelta(hours=1)) for id in ids])
    ends = time.monotonic() + 2

    faults = together(save_all, steer_all)

    assert not [fault for fault in faults if isinstance(fault, OperationalError)], faults
    assert faults == []
