"""The trial: claims that die, saves that are late, and a person who moves and takes out keys.

Whatever happens in whichever order, a key is in one place, and what was saved was recorded once.
"""

import random
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.jobs.conftest import NAME
from trackers.jobs import queue
from trackers.jobs.audit import audit_queue
from trackers.schedule import intervals, replan, tweet_changes
from trackers.schedule.intervals import Plan, Tier
from trackers.schedule.models import Interval, Replanning
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetBucket, TweetUpdate
from trackers.updater.save import Judged, save_batch
from trackers.xapi.results import Shown
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)
TWEETS, UNIT, LEASE = 3000, 300, 1.0
PLAN = Plan((Tier(timedelta(days=1), SECOND, 0.5),))


class Trial:
    """What several threads do at once, and how often."""

    def __init__(self, seconds):
        self.ends = time.monotonic() + seconds
        self.ids = list(range(1, TWEETS + 1))
        self.count, self.faults = Counter(), []

    def run(self, *acts):
        threads = [threading.Thread(target=self.repeat, args=[act]) for act in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.ends - time.monotonic() + 60)
        assert not any(thread.is_alive() for thread in threads)

    def repeat(self, act):
        chance = random.Random()
        try:
            while time.monotonic() < self.ends:
                act(chance)
        except Exception as fault:
            self.faults.append(fault)
        finally:
            connection.close()

    def work(self, chance):
        batch = queue.get(NAME, UNIT)
        if batch is None:
            time.sleep(0.02)
            return
        self.count["claimed"] += len(batch.keys)
        fate = chance.random()
        if fate < 0.06:
            self.count["died"] += len(batch.keys)
            return
        if fate < 0.14:
            time.sleep(LEASE * 1.3)
        # The last hundred was not asked for, and goes back before the save or after it.
        asked, left = batch.keys, ()
        if fate > 0.7:
            asked, left = batch.keys[:-100], replace(batch, keys=batch.keys[-100:])
        if left and fate > 0.85:
            queue.release_in_place(left)
        counts = [[chance.randrange(3)] * len(asked)] * 6
        answer = Judged(Shown(asked, counts, None), at=intervals.current()[0])
        saved = save_batch(batch, [answer] if asked else [], PLAN)
        self.count["saved"] += len(saved.ours)
        self.count["refused"] += len(asked) - len(saved.ours)
        if left and fate <= 0.85:
            queue.release(left, SECOND / 5)

    def steer(self, chance):
        some = chance.sample(self.ids, 40)
        act = chance.choice(["move", "check", "pause", "remove"])
        if act == "move":
            queue.schedule_many(NAME, [(id, SECOND / 2) for id in some])
        elif act == "check":
            tweet_changes.check_now(some)
        elif act == "pause":
            tweet_changes.pause_tweets(some)
            tweet_changes.resume_tweets(some)
        else:
            queue.remove_keys(NAME, some)
            queue.schedule(NAME, some[0], SECOND)
            queue.schedule_many(NAME, [(id, SECOND / 3) for id in some])
        self.count[act] += 1

    def plan(self, chance):
        replan.replan()
        while replan.plan_piece(Replanning.objects.get().turn, size=500):
            pass
        self.count["re-planned"] += 1
        time.sleep(0.3)


def value(query):
    with cursor() as db:
        return db.execute(query).fetchone()[0]


RECORDED = """
    SELECT (SELECT sum(measurements) FROM trackers_tweet)
         + (SELECT coalesce(sum(measurements), 0) FROM trackers_sample)
"""
OVERLAPPING = """
    SELECT count(*) FROM trackers_sample s JOIN trackers_sample o USING (tweet_id)
    WHERE o.taken_at > s.taken_at AND o.taken_at < s.measured_until
"""
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


def test_whatever_happens_no_key_is_lost_or_duplicated(committed_jobs, capsys):
    committed_jobs.knobs(lease=LEASE * SECOND, buffer_ttl=SECOND / 10, arrivals_per_second=10_000)
    Interval.objects.all().delete()
    Interval.objects.create(younger_than=timedelta(days=1), every=2 * SECOND)
    trial = Trial(seconds=8)
    now, deadlocks = timezone.now(), value(DEADLOCKS)
    Tweet.objects.bulk_create(Tweet(id=id, created_at=now, tracked_at=now) for id in trial.ids)
    queue.schedule_many(NAME, [(id, timedelta(0)) for id in trial.ids])

    trial.run(*[trial.work] * 4, trial.steer, trial.plan)

    audit = audit_queue(NAME, mend=False)
    with capsys.disabled():
        print(f"\n{dict(trial.count)}, {audit}")
    assert trial.faults == []
    assert value(RECORDED) - trial.count["saved"] == 0
    assert value(OVERLAPPING) == 0
    assert value(DEADLOCKS) == deadlocks
    assert (audit.jobs, audit.lost, audit.doubled) == (TWEETS, 0, 0)
    # Each can still be claimed, and once.
    TweetBucket.objects.filter(lease=None).update(due_at=now)
    isolated = set(TweetUpdate.objects.filter(strikes=4).values_list("key", flat=True))
    committed_jobs.turn_clock(SECOND)
    collected = Counter(isolated)
    while batch := queue.get(NAME, 1000):
        collected.update(batch.keys)
    isolated |= set(TweetUpdate.objects.filter(strikes=4).values_list("key", flat=True))
    assert set(collected) | isolated == set(trial.ids)
    assert set(collected.values()) == {1}
