"""The queue of a running installation goes into buckets, and comes back out, with all it knows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command

from tests.jobs.conftest import NAME
from trackers.jobs import queue
from trackers.jobs.audit import audit
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

# Three hundred of two seconds, some of them claimed, struck, urgent; the last one isolated.
ROWS = """
    INSERT INTO trackers_tweetupdate (key, due_at, lease, attempts, urgent)
    SELECT n, date_trunc('second', now()) + (n % 2 - 2) * interval '1 second'
              + CASE WHEN n <= 20 THEN interval '1 minute' ELSE '0' END,
           CASE WHEN n <= 20 THEN 4711 END,
           CASE WHEN n = 300 THEN 4 WHEN n > 280 THEN 2 ELSE 0 END, n BETWEEN 200 AND 250
    FROM generate_series(1, 300) n
"""
ALL = "SELECT key, due_at, lease, attempts, urgent FROM trackers_tweetupdate ORDER BY key"


def migrate(*to):
    """To the newest unless it is told where to."""
    call_command("migrate", "trackers", *to, verbosity=0)


def rows():
    with cursor() as db:
        return db.execute(ALL, prepare=False).fetchall()


@pytest.fixture
def before_buckets():
    migrate("0022_begun")
    with cursor() as db:
        db.execute(ROWS, prepare=False)
    try:
        yield
    finally:
        migrate("0024_audit")


def test_what_waits_is_claimed_or_has_strikes_is_so_afterwards(before_buckets):
    # The queue as it is today finds what it needs in today's tables.
    migrate()

    told = audit(NAME, mend=False)
    assert (told.jobs, told.lost, told.doubled, told.dead) == (300, 0, 0, 0)
    # By second, lease, strikes and urgency: each with up to a hundred keys.
    assert told.buckets == 2 + 2 + 4 + 2
    assert sorted(queue.claims(NAME, range(1, 301))) == list(range(1, 21))
    found = []
    while batch := queue.get(NAME, 1000):
        found += [(batch.strikes, key) for key in batch.keys]
    assert sorted(found) == [(0, n) for n in range(21, 281)] + [(2, n) for n in range(281, 300)]


def test_and_all_of_it_comes_back_out(before_buckets):
    before = rows()
    migrate("0024_audit")
    queue.schedule(NAME, 1000, timedelta(hours=1))

    migrate("0022_begun")

    *found, new = rows()
    assert found == before
    assert (new[0], *new[2:]) == (1000, None, 0, False)
