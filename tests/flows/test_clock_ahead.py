"""The clock of the database's machine is ahead for a while: nothing is lost by that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

import pytest

from tests.chaos.clock import Clock, available
from tests.conftest import PROJECT
from tests.flows.conftest import wait_until
from tests.flows.test_failover import PostgresServer

pytestmark = pytest.mark.skipif(not available(), reason="needs Debian's faketime")

DAY = 86_400
RETENTION = 40
# In processes of their own, as workers are: the tasks that delete by age, with what they know of
# earlier runs; a measurement at the time of the database; and what is there then.
BEGIN = """
from datetime import timedelta
from django.contrib.sessions.models import Session
from tests.factories import TweetFactory
from trackers.schedule import intervals

now, _ = intervals.current()
TweetFactory(id=1)
for name, days in (("over", -1), ("valid", 20)):
    Session.objects.create(
        session_key=name, session_data="", expire_date=now + timedelta(days=days))
"""
RUN = """
import json
from datetime import timedelta
from django.contrib.sessions.models import Session
from django.db import connection
from tests.factories import figures
from trackers import tasks
from trackers.schedule import intervals
from trackers.tweets.history import history
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record

now, _ = intervals.current()
record([Measured(1, now, figures({likes}), timedelta(hours=1))])
for task in ("make_partitions", "pack_samples", "retire_samples", "prune_sessions", "prune_events",
             "tend_subscribers"):
    getattr(tasks, task)()
print(json.dumps({{
    "shown": Tweet.objects.get().likes,
    "history": sorted(run.likes for run in history(1)),
    "sessions": sorted(Session.objects.values_list("session_key", flat=True)),
}}))
"""


class ShiftedServer(PostgresServer):
    """One whose wall clock a test moves."""

    def __init__(self, folder):
        super().__init__(folder)
        self.clock = Clock(self.folder / "clock")
        environment = self.clock.environment()
        # It is for a host's Python.
        del environment["PYTHONPATH"]
        self.account["env"] = {**os.environ, **environment}

    def shift(self, days):
        self.clock.shift(days * DAY)
        wait_until(lambda: abs(self.days_ahead() - days) < 1, within=60, what="the clock moves")

    def days_ahead(self):
        with self.connect() as admin:
            row = admin.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        return (row[0] - time.time()) / DAY


@pytest.fixture
def server():
    with TemporaryDirectory() as folder:
        shifted = ShiftedServer(folder)
        try:
            shifted.create()
            yield shifted
        finally:
            shifted.stop()


def manage(server, *words):
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgres://tw@127.0.0.1:{server.port}/tw",
        "SAMPLE_RETENTION_DAYS": str(RETENTION),
    }
    ran = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def run_tasks(server, likes):
    code = RUN.format(likes=likes)
    return json.loads(manage(server, "shell", "--no-imports", "--command", code))


def test_a_clock_that_was_ahead_for_a_while_loses_nothing(server):
    manage(server, "migrate")
    manage(server, "shell", "--no-imports", "--command", BEGIN)
    for likes in (1, 2):
        # As it should be: what is over is deleted.
        assert run_tasks(server, likes)["sessions"] == ["valid"]

    server.shift(400)
    for likes in (3, 4):
        ahead = run_tasks(server, likes)
        assert ahead == {
            "shown": likes,
            "history": [*range(1, likes + 1)],
            "sessions": ["valid"],
        }

    server.shift(0)
    for likes in (5, 6):
        right = run_tasks(server, likes)
        assert right == {
            "shown": likes,
            "history": [*range(1, likes + 1)],
            "sessions": ["valid"],
        }
