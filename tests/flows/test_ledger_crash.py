"""Postgres is killed between a reservation and its answer: the books are never below X's bill."""

import os
import subprocess
import sys

import pytest

from tests.chaos.ground import Postgres
from tests.conftest import PROJECT

pytestmark = pytest.mark.timeout(300)

# A worker that lives through the crash, as workers do: it reserves, is told that the database is
# back, and settles.
WORKER = """
import sys
import time
from datetime import timedelta
import django
django.setup()
from django.db import connection
from trackers.money import ledger
from trackers.money.balances import read_balances
from tweetwatch.database import DatabaseClock

[balance] = read_balances()
clock = DatabaseClock(balance.now, time.monotonic())
asked = {"unpaid": [0] * 100, "paid": 0, "timeout": timedelta(seconds=1), "clock": clock}
payments = [ledger.reserve_posts(balance, **asked) for _ in range(6)]
print(balance.day, flush=True)
sys.stdin.readline()
connection.close()
for payment in payments:
    ledger.settle_payment(payment, posts=100, all_posts=100, x_now=None)
"""
BUDGETS = "posts_a_day, posts_a_month, money_a_day, money_a_month"
CLEAR = f"""
    TRUNCATE trackers_spending;
    UPDATE trackers_project SET ({BUDGETS}) = (NULL, NULL, NULL, NULL)
"""
BOOKS = "SELECT day::text, posts, posts_reserved FROM trackers_spending WHERE day <= %s"


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    """A server of its own, which flushes by itself as rarely as PostgreSQL allows."""
    server = Postgres(tmp_path_factory.mktemp("crash") / "postgres")
    try:
        server.start()
        with server.connect() as admin:
            admin.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
            admin.execute("ALTER SYSTEM SET wal_writer_flush_after = '1GB'")
            admin.execute("SELECT pg_reload_conf()")
        manage(server, "migrate", "-v", "0")
        manage(
            server, "credential", "add", "one", "--kind", "bearer", stdin='{"bearer_token": "t"}'
        )
        yield server
    finally:
        server.leave()


def environment(server):
    return {
        **os.environ,
        "DATABASE_URL": f"postgres://postgres:@/tweetwatch?host={server.socket_dir}",
        "DJANGO_SETTINGS_MODULE": "tweetwatch.settings",
    }


def manage(server, *arguments, stdin=""):
    subprocess.run(
        [sys.executable, "manage.py", *arguments],
        **{"cwd": PROJECT, "env": environment(server), "input": stdin},
        text=True,
        check=True,
        capture_output=True,
        timeout=200,
    )


class Worker:
    def __init__(self, server):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=PROJECT,
            env=environment(server),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def reserve(self):
        """The day on which it has reserved six times a hundred posts."""
        return self.process.stdout.readline().strip()

    def settle(self):
        self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0


@pytest.fixture
def worker(postgres):
    with postgres.connect() as admin:
        admin.execute(CLEAR)
    made = Worker(postgres)
    yield made
    made.process.kill()
    made.process.communicate()


def crash(postgres):
    assert postgres.kill()
    postgres.wait()


@pytest.mark.parametrize("budget", ["posts_a_day", "money_a_month"])
def test_reservations_of_a_budget_survive_a_crash(postgres, worker, budget):
    postgres.rows(f"UPDATE trackers_project SET {budget} = 100000 RETURNING id")
    day = worker.reserve()

    crash(postgres)

    assert postgres.rows(BOOKS, day) == [(day, 0, 600)]
    worker.settle()
    assert postgres.rows(BOOKS, day) == [(day, 600, 0)]


def test_an_answer_is_billed_although_its_reservation_was_lost(postgres, worker):
    """Without a budget a reservation is not flushed: it, and the row of the day, may be gone."""
    day = worker.reserve()

    crash(postgres)
    worker.settle()

    assert postgres.rows(BOOKS, day) == [(day, 600, 0)]


def test_an_answer_is_billed_although_part_of_the_reservations_of_its_day_was_lost(
    postgres, worker
):
    day = worker.reserve()

    crash(postgres)
    # As if the crash had left the first of the six.
    with postgres.connect() as admin:
        admin.execute("TRUNCATE trackers_spending")
        admin.execute(
            "INSERT INTO trackers_spending"
            " (project_id, day, posts, users, posts_reserved, users_reserved, money)"
            " SELECT id, %s, 0, 0, 100, 0, 0 FROM trackers_project",
            [day],
        )
    worker.settle()

    assert postgres.rows(BOOKS, day) == [(day, 600, 0)]
