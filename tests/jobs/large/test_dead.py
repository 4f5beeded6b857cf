"""A claim that meets thousands of dead buckets goes on to what is alive, in a few statements."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from trackers.jobs import queue
from trackers.jobs.models import Queue

pytestmark = pytest.mark.django_db
ALIVE = 10**9


@pytest.mark.parametrize(
    ("name", "keys"),
    [("import:part", 900), ("import:part", 1500), ("source:poll", 1500), ("tweet:update", 100_000)],
)
def test_removed_keys_do_not_hide_a_live_one_behind_them(name, keys):
    die_before_a_live_one(name, keys)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        batch = queue.claim_batch(name)

    assert batch.keys == (ALIVE,)
    assert len(queries) < 10


def test_a_claim_stops_clearing_after_a_while_and_the_next_one_goes_on():
    die_before_a_live_one("source:poll", 21_000)

    assert queue.claim_batch("source:poll") is None
    assert queue.claim_batch("source:poll").keys == (ALIVE,)


def die_before_a_live_one(name, many):
    keys = range(1, many + 1)
    Queue.objects.filter(name=name).update(arrivals_per_second=10_000_000, buffer_ttl=timedelta(0))
    if name == "tweet:update":
        Queue.objects.filter(name=name).update(capacity=100)
    queue.schedule_many(name, [(key, timedelta(seconds=-5)) for key in keys])
    queue.remove_keys(name, keys)
    queue.schedule(name, ALIVE, timedelta(seconds=-1))
