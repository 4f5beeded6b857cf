"""Both statements of the queue must stay two probes of one index, however many keys wait."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.jobs.plans import buffers, explain, prepared, scans
from trackers.jobs import queue
from trackers.jobs.queue import CLAIM, READY_IN, on
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "tweet:update"
TABLE = "trackers_tweetupdate"
FUTURE = 300_000
DUE = 100


def fill(db):
    db.execute(
        f"INSERT INTO {TABLE} SELECT n, now() + n * interval '1 s', NULL, 0"
        f" FROM generate_series(1, {FUTURE}) n"
    )


def make_due(db, turn):
    first = turn * DUE
    db.execute(
        f"UPDATE {TABLE} SET due_at = now() - interval '10 s' + key * interval '1 us'"
        f" WHERE key > {first} AND key <= {first + DUE}"
    )


def fresh_statistics(db):
    fill(db)
    db.execute(f"ANALYZE {TABLE}")


def no_statistics(db):
    """As after a restore, or a first burst."""
    fill(db)


def statistics_of_an_empty_table(db):
    """As in the minute after a burst into a queue that was at rest."""
    db.execute(f"ANALYZE {TABLE}")
    fill(db)


def statistics_of_a_drained_queue(db):
    """The same, and the table's pages are still there."""
    fill(db)
    db.execute(f"DELETE FROM {TABLE}")
    db.execute(f"ANALYZE {TABLE}")
    fill(db)


@pytest.mark.parametrize(
    "prepare",
    [
        fresh_statistics,
        no_statistics,
        statistics_of_an_empty_table,
        statistics_of_a_drained_queue,
    ],
)
@pytest.mark.parametrize("mode", ["auto", "force_generic_plan"])
def test_gate_and_claim_are_probes_of_the_due_index(prepare, mode, capsys):
    with cursor() as db:
        # Nobody may mend the statistics meanwhile.
        db.execute(f"ALTER TABLE {TABLE} SET (autovacuum_enabled = off)")
        prepare(db)
        db.execute(f"SET plan_cache_mode = {mode}")
        # psycopg prepares the third time; Postgres thinks of a generic plan from the sixth.
        for turn in range(10):
            make_due(db, turn)
            assert queue.ready_in(NAME) <= 0
            assert len(queue.claim(NAME).keys) == DUE
        make_due(db, 10)
    given = {"namespace": NAME, "low": "-infinity", "limit": None, "buffer_ttl": None, "token": 7}

    told = {}
    for what, query in (("gate", READY_IN), ("claim", CLAIM)):
        statement = on(NAME, query).as_string(connection.connection)
        told[what] = explain(statement, given)
        _, generic, custom = prepared(statement)
        with capsys.disabled():
            print(
                f"\n{prepare.__name__}, {mode}, {what}: {generic} generic and {custom} custom"
                f" plans, {buffers(told[what])} buffers, {told[what]['Execution Time']:.2f} ms:"
                f" {scans(told[what], TABLE)}"
            )
    assert {name for _, name in scans(told["gate"], TABLE)} == {"tweetupdate_due"}
    assert ("Index Scan", "tweetupdate_due") in scans(told["claim"], TABLE)
    assert "Seq Scan" not in {kind for kind, _ in scans(told["claim"], TABLE)}
    assert buffers(told["gate"]) < 250
    assert buffers(told["claim"]) < MOST_BUFFERS


# A hundred rows are found, locked, and written anew with an entry in each of two indexes.
MOST_BUFFERS = 1500
