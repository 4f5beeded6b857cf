"""Rows become arrays, and the history stays what was written."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from tests.factories import TweetFactory, figures
from trackers.tweets import pack
from trackers.tweets.history import histories, history
from trackers.tweets.models import PackedSamples, Sample, Tweet
from trackers.tweets.pack import SAMPLES
from trackers.tweets.record import Measured, record
from trackers.xapi.results import Figures
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

NOW = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# Later than any of these tests ends.
LATER = Deadline.after(3600)


def write(id, at, likes, **more):
    record([Measured(id, at, figures(likes, **more), DAY)])


def packed():
    return [
        (row.tweet_id, row.month.isoformat(), len(row.taken_at))
        for row in PackedSamples.objects.order_by("tweet_id", "month")
    ]


@pytest.mark.django_db
def test_partitions_are_created_ahead_once():
    # A day back too: what was closed just now may have ended before.
    made = SAMPLES.make_ahead(now=NOW)

    assert made == 13
    assert SAMPLES.make_ahead(now=NOW) == 0
    assert SAMPLES.make_ahead(now=NOW + 6 * HOUR) == 1
    assert [p.name for p in SAMPLES.existing()][:2] == [
        "trackers_sample_2026030100",
        "trackers_sample_2026030106",
    ]


@pytest.mark.django_db
def test_a_missing_partition_stops_neither_saves_nor_packing():
    TweetFactory(id=1)
    for n in range(4):
        write(1, NOW + n * HOUR, n)

    assert Sample.objects.count() == 3
    assert SAMPLES.make_ahead(now=NOW) == 12
    assert [run.likes for run in history(1)] == [0, 1, 2, 3]


@pytest.mark.django_db
def test_settled_samples_are_packed_and_their_partition_dropped():
    SAMPLES.make_ahead(now=NOW)
    TweetFactory(id=1)
    for n in range(30):
        write(1, NOW + n * HOUR, n, views=n * n)
    before = history(1)

    dropped = pack.pack(now=NOW + 30 * HOUR, deadline=LATER).dropped

    # The first of March is over, and each of its four parts.
    assert dropped == 4
    assert history(1) == before
    assert packed() == [(1, "2026-03-01", 23)]
    assert "trackers_sample_2026030100" not in [p.name for p in SAMPLES.existing()]


@pytest.mark.django_db
def test_packing_keeps_the_history():
    SAMPLES.make_ahead(now=NOW)
    TweetFactory(id=1)
    TweetFactory(id=2)
    at = NOW - 3 * DAY
    for n in range(60):
        at += timedelta(hours=7, microseconds=123457)
        record(
            [
                Measured(1, at, Figures(None, 0, n // 2, None, n, n * 10**9), HOUR),
                Measured(2, at, Figures(n, None, None, 5, None, None), HOUR),
            ]
        )
        if n % 7 == 0:
            # Belated, into a time that is packed already.
            record([Measured(1, at - 4 * DAY, figures(1000 + n), HOUR)])
        before = histories([1, 2])
        pack.pack(now=at, deadline=LATER)
        SAMPLES.make_ahead(now=at)
        assert sorted(histories([1, 2]), key=repr) == sorted(before, key=repr)

    assert sum(run.measurements for run in history(1)) == 60 + 9
    assert sum(run.measurements for run in history(2)) == 60
    months = {month for _, month, _ in packed()}
    assert {"2026-02-01", "2026-03-01"} <= months
    taken = [run.taken_at for run in history(1)]
    assert taken == sorted(taken)


@pytest.mark.django_db
def test_rows_of_the_default_partition_are_packed_when_they_are_a_day_old():
    TweetFactory(id=1)
    for n in range(5):
        write(1, NOW + n * HOUR, n)
    before = history(1)

    pack.pack(now=NOW + DAY, deadline=LATER)
    assert packed() == []

    pack.pack(now=NOW + DAY + timedelta(hours=1.5), deadline=LATER)
    assert packed() == [(1, "2026-03-01", 2)]
    assert history(1) == before


@pytest.mark.django_db
def test_only_old_months_are_pruned_as_a_whole():
    TweetFactory(id=1)
    for month in (1, 2, 3):
        write(1, datetime(2026, month, 10, tzinfo=UTC), month)
        write(1, datetime(2026, month, 28, 23, 59, tzinfo=UTC), month + 10)
    pack.pack(now=datetime(2026, 4, 10, tzinfo=UTC), deadline=LATER)
    before = datetime(2026, 4, 15, tzinfo=UTC)
    measured(before)

    assert pack.retire(older_than=40 * DAY, now=before, deadline=LATER).rows == 2
    assert [month for _, month, _ in packed()] == ["2026-03-01"]
    assert pack.retire(older_than=40 * DAY, now=before, deadline=LATER).rows == 0


def measured(at):
    """Another tweet, lately: by this, a retention believes the time."""
    TweetFactory(measured_until=at)


@pytest.mark.django_db
def test_a_clock_that_is_ahead_retires_nothing():
    TweetFactory(id=1)
    for month in (1, 2, 3):
        write(1, datetime(2026, month, 10, tzinfo=UTC), month)
    now = datetime(2026, 3, 11, tzinfo=UTC)
    pack.pack(now=now + 60 * DAY, deadline=LATER)
    kept = packed()
    assert len(kept) == 2

    pack.retire(older_than=40 * DAY, now=now + 400 * DAY, deadline=LATER)
    assert packed() == kept
    # Nor later, by what was measured then.
    measured(now + 400 * DAY)
    pack.retire(older_than=40 * DAY, now=now, deadline=LATER)
    assert packed() == kept


# A post that rests: nothing of it changed from the end of April until June.
RESTED = datetime(2026, 4, 30, 12, tzinfo=UTC), datetime(2026, 6, 8, 12, tzinfo=UTC)
TO_JULY = datetime(2026, 7, 10, tzinfo=UTC)


@pytest.mark.django_db
def test_a_sample_lasting_into_the_retention_is_kept_whole():
    began, ended = RESTED
    TweetFactory(id=1)
    for at, likes in ((began - DAY, 1), (began, 2), (ended, 2), (ended + DAY, 3)):
        record([Measured(1, at, figures(likes), 60 * DAY)])
    pack.pack(now=TO_JULY, deadline=LATER)
    # May is the first month to be kept.
    assert [(run.taken_at, run.measured_until) for run in history(1)][1] == RESTED
    pack.retire(older_than=40 * DAY, now=TO_JULY, deadline=LATER)

    assert [run.likes for run in history(1)] == [2, 3]
    assert (history(1)[0].taken_at, history(1)[0].measured_until) == RESTED
    measured(TO_JULY + 60 * DAY)
    pack.retire(older_than=40 * DAY, now=TO_JULY + 60 * DAY, deadline=LATER)
    assert [run.likes for run in history(1)] == [3], "in time it goes, too"


@pytest.mark.django_db(transaction=True)
def test_a_busy_partition_is_packed_and_dropped_the_next_time():
    SAMPLES.make_ahead(now=NOW)
    TweetFactory(id=1)
    write(1, NOW, 1)
    write(1, NOW + HOUR, 2)
    reading, done = threading.Event(), threading.Event()

    def read_for_long():
        with cursor() as db:
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM trackers_sample")
            reading.set()
            done.wait(20)
            db.execute("ROLLBACK")
        connection.close()

    reader = threading.Thread(target=read_for_long)
    reader.start()
    reading.wait(10)
    assert pack.pack(now=NOW + DAY, deadline=LATER).dropped == 0
    assert SAMPLES.make_ahead(now=NOW + DAY) == 0
    done.set()
    reader.join(10)

    assert [run.likes for run in history(1)] == [1, 2]
    assert pack.pack(now=NOW + DAY, deadline=LATER).dropped == 4
    assert SAMPLES.make_ahead(now=NOW + DAY) == 4
    assert [run.likes for run in history(1)] == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_packers_do_not_fail():
    start, faults = threading.Barrier(3), []

    def keep():
        try:
            start.wait()
            SAMPLES.make_ahead(now=NOW)
            pack.pack(now=NOW + 5 * DAY, deadline=LATER)
        except Exception as fault:
            faults.append(fault)
        finally:
            connection.close()

    keepers = [threading.Thread(target=keep) for _ in range(3)]
    for keeper in keepers:
        keeper.start()
    for keeper in keepers:
        keeper.join(60)

    assert faults == []


SIZE = """
    SELECT pg_total_relation_size('trackers_packedsamples')
         + (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('trackers_sample'))
"""
# A tweet whose figures grow as they do: each sample changes them all.
GROW = """
    INSERT INTO trackers_sample
    SELECT id, (1000 * n + id %% 977) * (1 + id %% 50), at, at + interval '20 s', 1,
           n * (1 + id %% 7) + id %% 13, n * (1 + id %% 3), n * (2 + id %% 40) + id %% 101, n / 3,
           n / 2 + id %% 5
    FROM generate_series(1, %(tweets)s::int) id, generate_series(1, %(samples)s::int) n,
         LATERAL (SELECT %(start)s::timestamptz + n * interval '5 minutes'
                         + (id * 7919 %% 60000) * interval '1 ms' AS at) t
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("tweets", "samples", "most"), [(5000, 50, 56), (5000, 4, None)])
def test_a_sample_takes_at_most_56_bytes_when_it_is_a_day_old(tweets, samples, most, capsys):
    SAMPLES.make_ahead(now=NOW)
    with cursor() as db:
        db.execute(GROW, {"tweets": tweets, "samples": samples, "start": NOW})

    pack.pack(now=NOW + 6 * HOUR + DAY, deadline=LATER)

    assert Sample.objects.count() == 0
    with cursor() as db:
        size = float(db.execute(SIZE).fetchone()[0]) / (tweets * samples)
    with capsys.disabled():
        print(f"\n{size:.1f} bytes a sample at {samples} samples a tweet")
    assert most is None or size <= most


@pytest.mark.django_db(transaction=True)
def test_a_concurrent_reader_sees_rows_or_arrays_never_both_or_neither():
    SAMPLES.make_ahead(now=NOW)
    ids = range(1, 201)
    Tweet.objects.bulk_create(Tweet(id=id, tracked_at=NOW) for id in ids)
    for n in range(6):
        record([Measured(id, NOW + n * HOUR, figures(n), DAY) for id in ids])
    over, counts = threading.Event(), set()

    def read():
        while not over.is_set():
            counts.add(len(histories(ids)))
        connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    for hours in range(24, 30):
        pack.pack(now=NOW + hours * HOUR, deadline=LATER)
    over.set()
    reader.join(10)

    assert counts == {1200}
