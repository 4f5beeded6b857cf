"""How many keys are due in each minute to come; and that a count ends, however many there are."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import TweetUpdateFactory
from tests.plans import MODES, watched
from trackers.jobs import ahead, queue
from trackers.jobs.observed.models import ScheduleAhead
from trackers.updater.models import TweetBucket, TweetUpdate
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db
NAME = TweetUpdate.queue
MINUTE = timedelta(minutes=1)
JOB, BUCKET = TweetUpdate._meta.db_table, TweetBucket._meta.db_table
KEYS = 200_000
FILL = (
    f"INSERT INTO {JOB} (key, due_at, stamp)"
    f" SELECT n, now() + n * interval '15 ms', n / 100 FROM generate_series(1, {KEYS}) n",
    f"INSERT INTO {BUCKET} (due_at, stamp, keys)"
    f" SELECT min(due_at), stamp, array_agg(key) FROM {JOB} GROUP BY stamp",
)


def due(number, minutes, **given):
    at = datetime.now(UTC) + minutes * MINUTE
    return [TweetUpdateFactory(due_at=at, **given) for _ in range(number)]


def counts(found):
    """(minutes ahead, keys) where there are any; a key may be due in the minute after."""
    return [count for count in found.counts if count]


def test_keys_are_counted_in_the_minute_in_which_they_are_due():
    due(3, -5)
    due(2, 10)
    due(4, 30)
    due(1, 90)

    counted = ahead.count_ahead(NAME, most=1000)

    assert counts(counted) == [2, 4]
    assert counted.ends_at is None
    assert counted.counts.index(2) in (10, 11)


def test_moved_removed_and_claimed_keys_are_not_counted():
    moved, removed, *_ = due(4, 10)
    queue.schedule(NAME, moved.key, 20 * MINUTE)
    queue.remove_keys(NAME, [removed.key])
    due(1, 1, lease=7)

    assert counts(ahead.count_ahead(NAME, most=1000)) == [2, 1]


def test_a_truncated_count_says_where_it_ends():
    due(3, 10)
    due(3, 20)

    counted = ahead.count_ahead(NAME, most=4)
    minutes = counted.next_minutes(60, now=counted.taken_at)

    assert counts(counted) == [3, 1]
    assert counted.ends_at is not None
    assert minutes[10] is not None
    assert minutes[30] is None


def test_a_count_from_a_minute_ago_is_read_from_the_present_minute_on():
    at = datetime(2026, 3, 5, 12, 0, 40, tzinfo=UTC)
    counted = ahead.Ahead(at, [*range(ahead.MINUTES_AHEAD)])

    assert counted.next_minutes(3, now=at) == [0, 1, 2]
    assert counted.next_minutes(3, now=at + MINUTE) == [1, 2, 3]
    assert counted.next_minutes(60, now=at + 10 * MINUTE)[-7:] == [63, *[None] * 6]


def test_one_cluster_counts_once_a_minute_for_all():
    due(2, 10)
    assert ahead.record_ahead(NAME)
    due(5, 10)
    assert not ahead.record_ahead(NAME)
    assert counts(ahead.read_ahead(NAME)) == [2]

    ScheduleAhead.objects.update(taken_at=datetime.now(UTC) - 2 * MINUTE)
    assert ahead.record_ahead(NAME)
    assert sum(ahead.read_ahead(NAME).counts) == 7
    # A cluster that ended long ago says nothing of now.
    ScheduleAhead.objects.update(taken_at=datetime.now(UTC) - 10 * MINUTE, counts=[9])
    assert sum(ahead.read_ahead(NAME).counts) == 7


@pytest.mark.parametrize("analyzed", [False, True], ids=["never analyzed", "analyzed"])
def test_a_count_reads_no_more_than_its_limit_whatever_the_planner_statistics(
    monkeypatch, analyzed
):
    with cursor() as db:
        for statement in (*FILL, *([f"ANALYZE {JOB}, {BUCKET}"] if analyzed else [])):
            db.execute(statement, prepare=False)

    with watched(monkeypatch) as watch:
        counted = ahead.count_ahead(NAME, most=2000)

    seen = [one for one in watch.reached if one.table in (JOB, BUCKET)]
    assert {one.mode for one in seen} == set(MODES)
    # Buckets are read up to a limit of their own, as each has a key at least.
    assert [one for one in seen if one.rows > 2001 or one.how == "Seq Scan"] == []
    assert sum(counted.counts) == 2000
    assert counted.ends_at is not None
