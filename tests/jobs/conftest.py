"""A queue whose clock the test turns: rows are moved in time instead of waiting."""

from datetime import timedelta

import pytest

from trackers.jobs import queue
from trackers.jobs.begun import mark_begun, note_ordinary_task
from trackers.jobs.models import Queue
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor

NAME = "tweet:update"


# The bucket in which each key of {job} lives, if there is one.
BUCKET_OF = """
    LEFT JOIN LATERAL (
        SELECT * FROM trackers_tweetbucket WHERE stamp = j.stamp AND j.key = ANY(keys)
    ) b ON true
"""


def others_work():
    """A worker has done an ordinary task."""
    note_ordinary_task({"success": True})


class Jobs:
    def put(self, *keys, delay=timedelta(0)):
        for key in keys:
            queue.schedule(NAME, key, delay)

    def turn_clock(self, by):
        """As if so much time had passed for what waits and for what is claimed."""
        with cursor() as db:
            db.execute("UPDATE trackers_tweetupdate SET due_at = due_at - %s", [by])
            db.execute(
                "UPDATE trackers_tweetbucket SET due_at = due_at - %(by)s,"
                " due_since = due_since - %(by)s",
                {"by": by},
            )
            db.execute(
                "UPDATE trackers_begunbatch SET claimed_at = claimed_at - %(by)s,"
                " expires_at = expires_at - %(by)s",
                {"by": by},
            )

    def row(self, key):
        """(lease, strikes) or None."""
        return self._columns("b.lease, coalesce(b.strikes, j.strikes)", key)

    def due_in(self, key):
        """Seconds from now, by the database, until it may be claimed."""
        found = self._columns(
            "extract(epoch FROM coalesce(b.due_at, j.due_at) - now())::float8", key
        )
        return found and found[0]

    @staticmethod
    def _columns(columns, key):
        with cursor() as db:
            query = f"SELECT {columns} FROM trackers_tweetupdate j {BUCKET_OF} WHERE key = %s"
            return db.execute(query, [key]).fetchone()

    def keys(self):
        return set(TweetUpdate.objects.values_list("key", flat=True))

    def knobs(self, **values):
        Queue.objects.filter(name=NAME).update(**values)

    def die(self, batch_of=100):
        """Claim and begin, and let the lease run out while others work; the keys that were
        claimed."""
        batch = queue.get(NAME, batch_of)
        if batch:
            assert mark_begun(batch) is not None
            others_work()
        self.turn_clock(timedelta(seconds=61))
        return batch.keys if batch else ()


@pytest.fixture
def jobs(db):
    return Jobs()


@pytest.fixture
def committed_jobs(transactional_db):
    """The same, where other connections see it."""
    return Jobs()
