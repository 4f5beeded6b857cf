"""A million tweets, writers at work, and every migration since the first release: nobody waits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import psycopg
import pytest

from tests.conftest import PROJECT
from tests.environment.test_migration_locks import LAST_UNCHECKED
from tests.large_tables import fill_by

pytestmark = [pytest.mark.django_db, pytest.mark.more]

TWEETS = 1_000_000
# As workers write: a tweet, its job, a sample, in one transaction; columns that there always were.
WRITES = (
    "UPDATE trackers_tweetupdate SET due_at = now() + interval '1 hour' WHERE key = %(id)s",
    "UPDATE trackers_tweet SET impressions = coalesce(impressions, 0) + 1, measured_until = now()"
    " WHERE id = %(id)s",
    "INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements)"
    " VALUES (%(id)s, now(), now(), 1)",
)
# Many times what a lock held for a moment takes, and far less than a scan of the table's rows or
# the building of an index of them does on a machine that is busy.
PATIENCE = "5s"


class Writer(threading.Thread):
    def __init__(self, url, ids):
        super().__init__(daemon=True)
        self.url, self.ids = url, ids
        self.ended = threading.Event()
        self.written, self.longest, self.fault = 0, 0.0, None

    def run(self):
        try:
            with psycopg.connect(self.url) as db:
                db.execute(f"SET lock_timeout = '{PATIENCE}'")
                db.commit()
                while not self.ended.is_set():
                    began = time.monotonic()
                    for statement in WRITES:
                        db.execute(statement, {"id": self.ids[self.written % len(self.ids)]})
                    db.commit()
                    self.written += 1
                    self.longest = max(self.longest, time.monotonic() - began)
        except psycopg.Error as error:
            self.fault = error


def migrate(url, *arguments):
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "trackers", *arguments],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_writers_go_on_while_a_million_tweets_are_migrated(fresh_database, capsys):
    migrate(fresh_database, LAST_UNCHECKED)
    with psycopg.connect(fresh_database, autocommit=True) as db:
        # Rows without what came later.
        fill_by(db, TWEETS)
        ids = [id for (id,) in db.execute("SELECT id FROM trackers_tweet LIMIT 10000")]
    writer = Writer(fresh_database, ids)
    writer.start()

    said = migrate(fresh_database)

    writer.ended.set()
    writer.join(60)
    assert writer.fault is None, f"{writer.fault} after {writer.written} writes"
    assert writer.written > 0
    with capsys.disabled():
        print(
            f"\n{said.count('OK')} migrations, {writer.written} writes, the longest"
            f" {writer.longest:.2f} s"
        )
