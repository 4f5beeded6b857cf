"""The audit: what a hand in the database broke is found, told and put right, and nothing else."""

import io
import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.management import call_command
from django_q.models import Schedule

from tests.jobs.conftest import NAME
from trackers import tasks
from trackers.jobs import queue
from trackers.jobs.audit import Audit, audit_queue
from trackers.management.commands.queue import describe_audit
from trackers.updater.models import TweetBucket, TweetUpdate
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)
KEYS = range(1, 301)


@pytest.fixture(autouse=True)
def scheduled():
    queue.schedule_many(NAME, [(key, -SECOND) for key in KEYS])


def lose():
    """The bucket of key 150, and of 99 others."""
    with cursor() as db:
        db.execute("DELETE FROM trackers_tweetbucket WHERE 150 = ANY(keys)")


def double():
    """A second bucket with all keys of the one of key 150."""
    with cursor() as db:
        db.execute(
            "INSERT INTO trackers_tweetbucket (due_at, stamp, keys)"
            " SELECT due_at, stamp, keys FROM trackers_tweetbucket WHERE 150 = ANY(keys)"
        )


def all_that_is_due():
    found = []
    while batch := queue.get(NAME, 1000):
        found += batch.keys
    return sorted(found)


def check(*flags):
    """What `queue check` says of the tweets' queue, and its exit status."""
    out, status = io.StringIO(), 0
    try:
        call_command("queue", "check", *flags, stdout=out)
    except SystemExit as end:
        status = end.code
    lines = out.getvalue().splitlines()
    return next(line for line in lines if NAME in line), status


def test_a_queue_in_use_passes_with_claimed_resting_and_isolated_keys(jobs):
    claimed = queue.get(NAME, 50)
    queue.release_in_place(replace(claimed, keys=claimed.keys[:20]))
    queue.remove_keys(NAME, range(100, 120))
    queue.schedule_many(NAME, [(key, SECOND) for key in range(150, 160)])
    TweetBucket.objects.filter(keys__contains=[250]).update(strikes=4)
    while queue.claim_batch(NAME):
        pass
    assert TweetUpdate.objects.filter(strikes=4).exists()

    told = audit_queue(NAME, mend=True)

    assert (told.jobs, told.lost, told.doubled) == (280, 0, 0)
    assert queue.finish(claimed, {}) == set(claimed.keys[20:])


def test_lost_keys_are_found_and_restored_to_their_place(committed_jobs):
    lose()

    found, mended = audit_queue(NAME, mend=False), audit_queue(NAME, mend=True)

    assert found.lost == mended.lost == 100
    assert not found.is_sound
    assert audit_queue(NAME, mend=False).is_sound
    assert all_that_is_due() == list(KEYS)


def test_a_key_in_two_buckets_is_claimed_once_after_repair(committed_jobs):
    double()
    first = queue.get(NAME, 100)

    found, mended = audit_queue(NAME, mend=False), audit_queue(NAME, mend=True)

    assert found.doubled == mended.doubled == 100
    assert audit_queue(NAME, mend=False).is_sound
    ours = queue.release(first)
    assert ours == set(first.keys) - set(range(101, 201))
    assert all_that_is_due() == list(KEYS)


def test_dead_entries_are_deleted_and_claims_are_left_alone():
    claimed = queue.get(NAME, 100)
    queue.remove_keys(NAME, [1, 101, *range(201, 301)])

    found = audit_queue(NAME, mend=True)

    assert (found.jobs, found.dead) == (198, 102)
    # The claim is of one of the two buckets that are left, and has its entry still.
    assert audit_queue(NAME, mend=False) == Audit(jobs=198, buckets=2, dead=1)
    assert queue.finish(claimed, {}) == set(range(2, 101))


def test_a_periodic_audit_without_time_checks_a_part_and_says_so():
    told = audit_queue(NAME, mend=True, deadline=Deadline.after(0))

    assert told == Audit(is_whole=False)


def test_the_command_reports_and_repairs():
    assert check() == (f"{NAME}: 300 keys in 3 buckets, 0 lost, 0 doubled, 0 dead entries", 0)
    lose()

    assert check() == (f"{NAME}: 300 keys in 2 buckets, 100 lost, 0 doubled, 0 dead entries", 1)
    line, status = check("--json")
    assert (json.loads(line)["lost"], status) == (100, 1)
    line, status = check("--mend")
    assert (line.endswith("100 lost, 0 doubled, 0 dead entries; repaired"), status) == (True, 0)
    assert check()[1] == 0
    said = describe_audit(NAME, Audit(jobs=1, buckets=1, dead=1), mended=False)
    assert said == f"{NAME}: 1 key in 1 bucket, 0 lost, 0 doubled, 1 dead entry"


def test_the_hourly_task_repairs_and_logs(caplog):
    lose()
    [scheduled] = Schedule.objects.filter(func="trackers.tasks.audit_queues")

    tasks.audit_queues()

    assert scheduled.schedule_type == Schedule.HOURLY
    assert f"{NAME}: 100 keys were in no bucket and 0 in several" in caplog.text
    assert audit_queue(NAME, mend=False).is_sound
