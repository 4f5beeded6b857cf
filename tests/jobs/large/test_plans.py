"""The statements of a claim must stay probes of an index, however many keys wait."""

from uuid import uuid4

import pytest
from django.db import connection

from tests.jobs.plans import buffers, explain, nodes, scans
from tests.plans import watched
from tests.queues import fill_buckets
from trackers.jobs import queue
from trackers.jobs.claim import CLAIM_BATCH, READY_IN
from trackers.jobs.models import SUSPECT_STRIKES, Queue
from trackers.jobs.processes import watchdog
from trackers.jobs.tables import on
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "tweet:update"
TABLE, BUCKETS = "trackers_tweetupdate", "trackers_tweetbucket"
FUTURE = 100_000
DUE = 100
GIVEN = {
    "queue": NAME, "low": queue.FROM_THE_HEAD, "low_urgent": queue.FROM_THE_HEAD,
    "limit": None, "buffer_ttl": None, "connected": queue.ALWAYS, "token": 7,
}  # fmt: skip


def fill(db):
    db.execute(
        f"INSERT INTO {TABLE} (key, due_at, stamp) SELECT n, now() + n * interval '1 s',"
        f" (n - 1) / 100 FROM generate_series(1, {FUTURE}) n"
    )
    fill_buckets(db)


def make_due(db, turn, *, count=DUE, strikes=0):
    """Keys of a turn, so many of each, due for ten seconds."""
    first = turn * count
    db.execute(
        f"UPDATE {BUCKETS} SET due_at = now() - interval '10 s' + stamp * interval '1 us',"
        f" strikes = {strikes}, lease = NULL"
        f" WHERE stamp >= {first // 100} AND stamp < {(first + count) // 100}"
    )


def fresh_statistics(db):
    fill(db)
    db.execute(f"ANALYZE {TABLE}, {BUCKETS}")


def no_statistics(db):
    """As after a restore, or a first burst."""
    fill(db)


def statistics_of_an_empty_table(db):
    """As in the minute after a burst into a queue that was at rest."""
    db.execute(f"ANALYZE {TABLE}, {BUCKETS}")
    fill(db)


def statistics_of_a_drained_queue(db):
    """The same, and the table's pages are still there."""
    fill(db)
    db.execute(f"DELETE FROM {TABLE}")
    db.execute(f"DELETE FROM {BUCKETS}")
    db.execute(f"ANALYZE {TABLE}, {BUCKETS}")
    fill(db)


def statistics_of_a_backlog(db):
    """All of them are due: a claim reckons with a tenth of them, since its LIMIT is not known."""
    fill(db)
    db.execute(f"UPDATE {BUCKETS} SET due_at = now() - interval '1 s'")
    db.execute(f"VACUUM ANALYZE {TABLE}, {BUCKETS}")


@pytest.mark.parametrize(
    "prepare",
    [
        fresh_statistics,
        statistics_of_a_backlog,
        no_statistics,
        statistics_of_an_empty_table,
        statistics_of_a_drained_queue,
    ],
)
@pytest.mark.parametrize(
    "mode",
    [
        "auto",
        pytest.param("force_custom_plan", marks=pytest.mark.more),
        "force_generic_plan",
    ],
)
def test_gate_and_claim_probe_the_due_index(prepare, mode, capsys):
    with cursor() as db:
        # Nobody may mend the statistics meanwhile.
        for table in (TABLE, BUCKETS):
            db.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        prepare(db)
        db.execute(f"SET plan_cache_mode = {mode}")
        Queue.objects.update(batch_size=DUE)
        # psycopg prepares the third time; Postgres thinks of a generic plan from the sixth.
        for turn in range(10):
            make_due(db, turn)
            assert queue.ready_in(NAME) <= 0
            assert len(queue.claim_batch(NAME).keys) == DUE
        make_due(db, 10)
        plans = {"gate": told_of(READY_IN), "claim": told_of(CLAIM_BATCH)}
        # The same plans have to do for ten times as many.
        Queue.objects.update(batch_size=10 * DUE)
        make_due(db, 3, count=10 * DUE)
        plans["unit"] = told_of(CLAIM_BATCH)
        # And past suspects, of whom there are as many.
        make_due(db, 4, count=10 * DUE, strikes=2)
        for turn in range(60, 66):
            make_due(db, turn)
            assert queue.claim_batch(NAME, fewer_strikes_than=SUSPECT_STRIKES).strikes == 0
        make_due(db, 7, count=10 * DUE)
        plans["others"] = told_of(CLAIM_BATCH, fewer_strikes_than=SUSPECT_STRIKES)

    with capsys.disabled():
        for what, plan in plans.items():
            print(
                f"\n{prepare.__name__}, {mode}, {what}: {buffers(plan)} buffers, {rows(plan)} rows,"
                f" {plan['Execution Time']:.2f} ms: {scans(plan, BUCKETS)} {scans(plan, TABLE)}"
            )
    assert {name for _, name in scans(plans["gate"], BUCKETS)} == {"tweetbucket_due"}
    assert buffers(plans["gate"]) < 250
    for what, keys in (("claim", DUE), ("unit", 10 * DUE), ("others", 10 * DUE)):
        # So few buckets, all of them due, may as well be read at once.
        if prepare is not statistics_of_a_backlog:
            assert ("Index Scan", "tweetbucket_due") in scans(plans[what], BUCKETS)
            assert "Seq Scan" not in {kind for kind, _ in scans(plans[what], BUCKETS)}
        assert "Seq Scan" not in {kind for kind, _ in scans(plans[what], TABLE)}
        assert buffers(plans[what]) < MOST_BUFFERS * keys / DUE
        assert rows(plans[what]) < MOST_ROWS * keys


@pytest.mark.parametrize("prepare", [fresh_statistics, no_statistics, statistics_of_a_backlog])
def test_the_query_of_the_watchdog_probes_the_due_index(prepare):
    with cursor() as db:
        prepare(db)
    look = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + watchdog.due_queues_statement().as_string()

    with connection.cursor() as asking:
        asking.execute(look, {"cluster": uuid4()})
        [[[plan]]] = asking.fetchall()

    assert scans(plan, TABLE) == []
    assert scans(plan, BUCKETS) == [("Index Only Scan", "tweetbucket_due")]
    assert buffers(plan) < 100


@pytest.mark.parametrize("prepare", [fresh_statistics, no_statistics, statistics_of_an_empty_table])
def test_isolated_keys_are_found_by_their_index(prepare, monkeypatch):
    with cursor() as db:
        for table in (TABLE, BUCKETS):
            db.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        prepare(db)
        db.execute(f"UPDATE {TABLE} SET strikes = 4, stamp = NULL WHERE key % 40 = 0")

    with watched(monkeypatch) as watch:
        assert queue.retry_isolated(NAME) == FUTURE / 40

    reached = [one for one in watch.reached if one.table == TABLE]
    assert reached
    assert "Seq Scan" not in {one.how for one in reached}
    assert max(one.rows for one in reached) <= 1000


def told_of(query, **those):
    """The plan of the statement as it was prepared."""
    return explain(on(NAME, query, **those), GIVEN)


def rows(plan):
    """What all steps of a plan handled and threw away, so that a join of each with each shows."""
    removed = ("Rows Removed by Filter", "Rows Removed by Join Filter")
    return sum(
        (node["Actual Rows"] + sum(node.get(one, 0) for one in removed)) * node["Actual Loops"]
        for node in nodes(plan["Plan"])
    )


# What a plan without statistics would walk over shows at a tenth as well.
BACKLOGS = [
    (fresh_statistics, 100_000),
    (no_statistics, 100_000),
    (statistics_of_an_empty_table, 100_000),
    pytest.param(fresh_statistics, 1_000_000, marks=pytest.mark.more),
]


@pytest.mark.parametrize(("prepare", "backlog"), BACKLOGS)
def test_urgent_keys_are_found_behind_many_due_keys(prepare, backlog, capsys):
    with cursor() as db:
        for table in (TABLE, BUCKETS):
            db.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
        prepare(db)
        for table in (TABLE, BUCKETS):
            db.execute(f"DELETE FROM {table}")
        db.execute(
            f"INSERT INTO {TABLE} (key, due_at, stamp) SELECT {FUTURE} + n,"
            f" now() - n * interval '1 ms' - interval '1 h', 1000 + n / 100"
            f" FROM generate_series(1, {backlog}) n"
        )
        fill_buckets(db)
    Queue.objects.update(batch_size=DUE)
    for turn in range(10):
        with cursor() as db:
            db.execute(
                f"INSERT INTO {TABLE} (key, due_at, urgent, stamp)"
                f" SELECT n, now() - interval '1 s', true, -{turn + 1}"
                f" FROM generate_series({1 + turn * 80}, {(turn + 1) * 80}) n"
            )
            fill_buckets(db)
        batch = queue.claim_batch(NAME)
        assert (len(batch.keys), len(urgent_of(batch))) == (DUE, 75)

    plan = told_of(CLAIM_BATCH)
    with capsys.disabled():
        print(
            f"\n{prepare.__name__}, {backlog:,} due: {buffers(plan)} buffers,"
            f" {plan['Execution Time']:.2f} ms: {scans(plan, BUCKETS)}"
        )
    assert scans(plan, BUCKETS)[:6] == [
        # Whether others were due beside a batch whose worker died; there is none.
        ("Index Scan", "tweetbucket_due"),
        ("Index Scan", "tweetbucket_due_since"),
        ("Index Scan", "tweetbucket_urgent"),
        ("Tid Scan", ""),
        ("Index Scan", "tweetbucket_due"),
        ("Tid Scan", ""),
    ]
    assert buffers(plan) < MOST_BUFFERS


def urgent_of(batch):
    return [key for key in batch.keys if key <= FUTURE]


# A hundred rows are found, locked, and written anew with an entry in each of two indexes.
# 1,166 to 1,501 were seen; the first walk over the whole queue adds a thousand at these sizes.
MOST_BUFFERS = 1800
MOST_ROWS = 40
