"""A queue whose clock the test turns: rows are moved in time instead of waiting."""

from __future__ import annotations

from datetime import timedelta

import pytest

from trackers.jobs import queue
from trackers.jobs.models import Namespace
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor

NAME = "tweet:update"


class Jobs:
    def put(self, *keys, delay=timedelta(0)):
        for key in keys:
            queue.schedule(NAME, key, delay)

    def turn_clock(self, by):
        """As if so much time had passed for what waits and for what is claimed."""
        with cursor() as db:
            db.execute("UPDATE trackers_tweetupdate SET due_at = due_at - %s", [by])

    def row(self, key):
        """(lease, attempts) or None."""
        return TweetUpdate.objects.filter(key=key).values_list("lease", "attempts").first()

    def due_in(self, key):
        """Seconds from now, by the database."""
        with cursor() as db:
            found = db.execute(
                "SELECT extract(epoch FROM due_at - now())::float8 FROM trackers_tweetupdate"
                " WHERE key = %s",
                [key],
            ).fetchone()
        return found and found[0]

    def keys(self):
        return set(TweetUpdate.objects.values_list("key", flat=True))

    def knobs(self, **values):
        Namespace.objects.filter(name=NAME).update(**values)

    def die(self, batch_of=100):
        """Claim, and let the lease run out; the keys that were claimed."""
        batch = queue.get(NAME, batch_of)
        self.turn_clock(timedelta(seconds=61))
        return batch.keys if batch else ()


@pytest.fixture
def jobs(db):
    return Jobs()


@pytest.fixture
def committed_jobs(transactional_db):
    """The same, where other connections see it."""
    return Jobs()
