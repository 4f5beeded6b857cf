"""Whatever is done to keys of a queue of a million reads these keys' rows alone, by every plan."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.factories import TweetFactory
from tests.jobs.conftest import NAME
from tests.plans import MODES, watched
from trackers.jobs import queue
from trackers.jobs.audit import (
    BUCKETS_PER_PIECE,
    FIND_DEAD,
    FIND_LOST,
    JOBS_PER_PIECE,
    audit_pieces,
)
from trackers.schedule import tweet_changes
from trackers.updater.models import TweetBucket, TweetUpdate
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

MILLION = 1_000_000
JOB, BUCKET = TweetUpdate._meta.db_table, TweetBucket._meta.db_table
MINUTE = timedelta(minutes=1)
# As many as a batch has, from anywhere: each in another bucket.
SOME = range(1, MILLION, 1000)

FILL = (
    f"INSERT INTO {JOB} (key, due_at, stamp)"
    f" SELECT n, now() + n * interval '1 ms', n / 100 FROM generate_series(1, {MILLION}) n",
    f"INSERT INTO {BUCKET} (due_at, stamp, keys)"
    f" SELECT min(due_at), stamp, array_agg(key) FROM {JOB} GROUP BY stamp",
)
EMPTY = (f"DELETE FROM {JOB}", f"DELETE FROM {BUCKET}")
ANALYZE = (f"ANALYZE {JOB}, {BUCKET}",)


def run(statements):
    with cursor() as db:
        for statement in statements:
            db.execute(statement, prepare=False)


def acts():
    """Each on a thousand keys or fewer; and of the audit a piece from the middle of the queue."""
    queue.schedule_many(NAME, [(key, -MINUTE) for key in range(500_001, 503_001)])
    first, second, third = (queue.get(NAME, 1000) for _ in range(3))
    middle = (MILLION // 2, MILLION)
    return {
        "look who has them": lambda: queue.claims(NAME, SOME),
        "schedule": lambda: queue.schedule(NAME, 7, MINUTE),
        "schedule many": lambda: queue.schedule_many(NAME, [(key, MINUTE) for key in SOME]),
        "check": lambda: tweet_changes.check_now(SOME[:50]),
        "remove": lambda: queue.remove_keys(NAME, SOME),
        "put back a part": lambda: queue.release_in_place(replace(first, keys=first.keys[:50])),
        "put back": lambda: queue.release_in_place(first),
        "release": lambda: queue.release(second),
        "finish": lambda: queue.finish(third, dict.fromkeys(third.keys[:500], MINUTE)),
        "audit jobs": lambda: next(audit_pieces(NAME, FIND_LOST, middle, True, None)),
        "audit buckets": lambda: next(
            audit_pieces(NAME, FIND_DEAD, (BUCKETS_PER_PIECE, MILLION), True, None)
        ),
    }


def test_every_statement_reads_only_its_keys_of_a_million_whatever_the_planner_statistics(
    monkeypatch, capsys
):
    # Nobody may mend the statistics meanwhile.
    run(f"ALTER TABLE {table} SET (autovacuum_enabled = off)" for table in (JOB, BUCKET))
    for key in SOME[:50]:
        TweetFactory(id=key)

    # Never filled, and filled and emptied: then the planner sees pages, and takes them for empty.
    for statistics in ("of a new queue", "of an emptied queue", "fresh"):
        run(ANALYZE if statistics == "fresh" else (*EMPTY, *ANALYZE, *FILL))
        for name, act in acts().items():
            with watched(monkeypatch) as watch:
                act()
            seen = [one for one in watch.reached if one.table in (JOB, BUCKET)]
            most = {"audit jobs": 3 * JOBS_PER_PIECE, "audit buckets": 100 * BUCKETS_PER_PIECE}.get(
                name, 3 * len(SOME)
            )
            with capsys.disabled():
                rows = max(one.rows for one in seen)
                print(f"\nstatistics {statistics}, {name}: {rows:,.0f} rows at the most")
            assert {one.mode for one in seen} >= set(MODES), name
            assert [one for one in seen if one.rows > most or one.how == "Seq Scan"] == []
