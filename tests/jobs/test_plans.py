"""Both statements of the queue must stay two probes of one index, however many keys wait."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.jobs.plans import buffers, explain, prepared, scans
from trackers.jobs import queue
from trackers.jobs.queue import CLAIM, READY_IN, on
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db

NAME = "tweet:update"
TABLE = "trackers_tweetupdate"
FUTURE = 300_000
DUE = 100


def fill(db):
    db.execute(
        f"INSERT INTO {TABLE} SELECT n, now() + n * interval '1 s', NULL, 0"
        f" FROM generate_series(1, {FUTURE}) n"
    )


def make_due(db, turn, count=DUE):
    db.execute(
        f"UPDATE {TABLE} SET due_at = now() - interval '10 s' + key * interval '1 us', lease = NULL,"
        f" attempts = 0 WHERE key > {turn * count} AND key <= {turn * count + count}"
    )


def forget_statistics(db):
    """As after a restore, or a burst that autoanalyze has not seen yet."""
    db.execute(f"DELETE FROM pg_statistic WHERE starelid = '{TABLE}'::regclass")


def analyze(db):
    db.execute(f"ANALYZE {TABLE}")


def analyze_then_grow(db):
    """Statistics of a time in which the table was empty."""
    db.execute(f"DELETE FROM {TABLE}")
    db.execute(f"ANALYZE {TABLE}")
    fill(db)


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("statistics", [analyze, forget_statistics, analyze_then_grow])
def test_gate_and_claim_use_the_due_index_only(statistics, mode, capsys):
    low = "1970-01-01Z"
    with cursor() as db:
        fill(db)
        statistics(db)
        db.execute(f"SET LOCAL plan_cache_mode = {mode}")
        # psycopg prepares the third time; Postgres thinks of a generic plan from the sixth.
        for turn in range(10):
            make_due(db, turn)
            assert queue.ready_in(NAME) <= 0
            assert len(queue.claim(NAME).keys) == DUE
        make_due(db, 10)

    given = {"namespace": NAME, "low": low, "limit": None, "buffer_ttl": None, "token": 7}
    gate = explain(on(NAME, READY_IN).as_string(connection.connection), given)
    claim = explain(on(NAME, CLAIM).as_string(connection.connection), given)

    with capsys.disabled():
        for told, statement in ((gate, READY_IN), (claim, CLAIM)):
            _, generic, custom = prepared(on(NAME, statement).as_string(connection.connection))
            print(
                f"\n{statistics.__name__}, {mode}: {generic} generic and {custom} custom plans,"
                f" {buffers(told)} buffers, {told['Execution Time']:.2f} ms: {scans(told, TABLE)}"
            )
    assert {name for _, name in scans(gate, TABLE)} == {"tweetupdate_due"}
    assert "Seq Scan" not in {kind for kind, _ in scans(claim, TABLE)}
    assert ("Index Scan", "tweetupdate_due") in scans(claim, TABLE)
    assert buffers(gate) < 50
