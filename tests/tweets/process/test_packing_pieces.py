"""Packing stops when its time is over, and goes on in the next run where it stopped."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from trackers.tweets import pack
from trackers.tweets.history import histories
from trackers.tweets.models import PackedSamples, Sample
from trackers.tweets.pack import SAMPLES
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, take_work_lock

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 3, 1, 0, 0, tzinfo=UTC)
OVER = NOW + timedelta(days=1, hours=1)
HOUR = timedelta(hours=1)

# Each tweet's samples lie evenly over the day.
FILL = """
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements, likes)
    SELECT tweet, at, at, 1, n
    FROM generate_series(1, %(tweets)s::int) tweet, generate_series(1, %(each)s::int) n,
         LATERAL (SELECT %(start)s::timestamptz + n * interval '23 hours' / %(each)s AS at) t
"""


def fill(*, tweets, each, start=NOW):
    with cursor() as db:
        db.execute(FILL, {"tweets": tweets, "each": each, "start": start})


def rows_left():
    return Sample.objects.count()


def test_a_run_packs_at_least_one_piece_and_later_runs_the_rest():
    SAMPLES.make_ahead(now=NOW)
    fill(tweets=1200, each=10)
    before = histories(range(1, 1201))

    runs = []
    while len(runs) < 9 and (not runs or runs[-1].left):
        runs.append(pack.pack(now=OVER, deadline=Deadline.after(0)))
        assert len(histories(range(1, 1201))) == len(before)

    # 500 tweets have 5,000 rows. The last run of a day finds nothing more, and drops it.
    assert [run.rows for run in runs] == [5000, 5000, 2000, 0]
    assert [run.dropped for run in runs] == [0, 0, 0, 4]
    assert sorted(histories(range(1, 1201)), key=repr) == sorted(before, key=repr)
    assert rows_left() == 0


def test_a_piece_is_bounded_by_rows_however_many_samples_a_tweet_has():
    SAMPLES.make_ahead(now=NOW)
    fill(tweets=20, each=1440)

    packed = pack.pack(now=OVER, deadline=Deadline.after(0))

    assert packed.rows == 4 * 1440
    assert rows_left() == 16 * 1440


def test_a_second_packer_touches_nothing():
    SAMPLES.make_ahead(now=NOW)
    fill(tweets=10, each=10)
    begun, over = threading.Event(), threading.Event()

    def another():
        with transaction.atomic():
            assert take_work_lock("packing trackers_sample")
            begun.set()
            over.wait(30)
        connection.close()

    rival = threading.Thread(target=another)
    rival.start()
    assert begun.wait(30)
    packed = pack.pack(now=OVER, deadline=Deadline.after(3600))
    over.set()
    rival.join(30)

    assert packed == pack.Packed()
    assert rows_left() == 100
    assert not PackedSamples.objects.exists()


def plan_of(statement, **given):
    with cursor() as db:
        rows = db.execute(f"EXPLAIN {statement}", given, prepare=False)
        return "\n".join(line for (line,) in rows)


def test_the_next_piece_is_found_by_the_index_on_tweets():
    SAMPLES.make_ahead(now=NOW)
    fill(tweets=20_000, each=10)
    with cursor() as db:
        db.execute("ANALYZE trackers_sample")
        where = {
            "rows": "trackers_sample",
            "column": "measured_until",
            "start": f"'{NOW}'",
            "end": f"'{OVER - HOUR}'",
        }

    plan = plan_of(pack.LAST_TWEET.format(**where, limit=pack.ROWS_PER_PIECE), after=1000)

    assert "Merge Append" in plan, plan
    assert "Seq Scan" not in plan, plan
    assert "Sort  (" not in plan, plan


# Twelve months of each tweet.
MONTHS = """
    INSERT INTO trackers_packedsamples
    SELECT tweet, month::date, ARRAY[month], ARRAY[month], '{1}', '{1}', '{1}', '{1}', '{1}', '{1}',
           '{1}'
    FROM generate_series(1, 10000) tweet,
         generate_series('2025-01-01Z'::timestamptz, '2025-12-01Z', interval '1 month') month
"""


def test_old_months_are_found_by_the_index_and_retired_in_pieces():
    with cursor() as db:
        db.execute(MONTHS)
        db.execute("ANALYZE trackers_packedsamples")

    march = datetime(2025, 3, 1, tzinfo=UTC)
    plan = plan_of(pack.RETIRE, before=march.date(), since=march)

    assert "packedsamples_month" in plan, plan
    assert "Tid Scan" in plan, plan
    assert "Seq Scan" not in plan, plan
    april = datetime(2025, 4, 10, tzinfo=UTC)
    first = pack.retire(older_than=timedelta(days=30), now=april, deadline=Deadline.after(0))
    assert (first.rows, first.left) == (5000, 15_000)
    rest = pack.retire(older_than=timedelta(days=30), now=april, deadline=Deadline.after(3600))
    assert rest.rows == 15_000
    assert PackedSamples.objects.order_by("month").first().month.isoformat() == "2025-03-01"
