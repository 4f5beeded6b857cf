"""The lists of what grows fastest are complete, though most changes are never ranked.

A world of tweets whose growth is heavy-tailed, each measured and changed every minute, while its
activity sinks to a third, some are posted and some rise again. After each minute the lists are
compared with a recount from all samples.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trackers.tweets.gains import update
from trackers.tweets.gains.models import EVER, Changed, Gain, Window
from trackers.tweets.models import METRICS
from trackers.tweets.pack import SAMPLES
from trackers.tweets.record import Measured, record
from trackers.xapi.results import Figures
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
TWEETS = int(os.environ.get("GAINS_TWEETS", "10000"))
MINUTES = int(os.environ.get("GAINS_MINUTES", "10"))
# Large ones are committed, minute by minute, and recounted at the end.
LARGE = TWEETS > 20_000
# As 2,000 of a million tweets are in each list, and the first 500 are promised.
LENGTH, PROMISED = TWEETS // 500, TWEETS // 2_000
pytestmark = [pytest.mark.django_db(transaction=LARGE), pytest.mark.timeout(0 if LARGE else 300)]
MEASURED_BEFORE = [timedelta(hours=hours) for hours in (30, 12, 3, 1.5, 0.5, 0.2, 0.05)]
# Each has its own size, and grows ever more slowly.
WORLD = """
    CREATE TEMP TABLE world AS
    SELECT n AS id, 3000 * exp(2.0 * random_normal()) AS size,
           86400 * exp(1.3 * random_normal()) AS slow, exp(0.7 * random_normal()) AS liked,
           %(now)s::timestamptz - interval '60 days' * power(random(), 1.5) AS posted,
           0::float8 AS seen
    FROM generate_series(1, %(tweets)s) n
"""
GROWN = """
    UPDATE world SET seen = size * (1 - exp(-least(
        greatest(date_part('epoch', %(at)s - posted), 0) / slow, 500)))
"""
# One in a thousand rises again.
GROW = """
    UPDATE world SET
        seen = seen + %(activity)s * 2 * random() * 60 * size / slow * exp(-least(500,
                   date_part('epoch', %(at)s - posted) / slow))
               + CASE WHEN random() < 0.001 THEN size * random() * random() ELSE 0 END
    WHERE posted <= %(at)s
"""
VALUES = """
    SELECT id, floor(seen)::bigint AS views, floor(seen * liked * 0.02)::int AS retweets,
           floor(seen * liked * 0.01)::int AS replies, floor(seen * liked * 0.1)::int AS likes,
           floor(seen * liked * 0.004)::int AS quotes,
           floor(seen * liked * 0.03)::int AS bookmarks
    FROM world WHERE posted <= %(at)s ORDER BY id
"""
PAST = f"""
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements,
                                 retweets, replies, likes, quotes, bookmarks, views)
    SELECT id, %(at)s, %(at)s, 1, retweets, replies, likes, quotes, bookmarks, views
    FROM ({VALUES}) AS had
"""
TRACK = """
    INSERT INTO trackers_tweet (id, created_at, tracked_at, came_from, paused, missing_reason,
                                measurements)
    SELECT id, posted, posted, '', false, '', 0 FROM world
"""
HAVE = f"""
    UPDATE trackers_tweet t SET taken_at = %(at)s, measured_until = %(at)s, measurements = 1,
        retweets = had.retweets, replies = had.replies, likes = had.likes, quotes = had.quotes,
        bookmarks = had.bookmarks, views = had.views
    FROM ({VALUES}) AS had WHERE t.id = had.id
"""
# A tweet's value at the beginning of the window, or the first one in it.
RECOUNT = """
    WITH runs AS (
        SELECT tweet_id, taken_at, measured_until, {metric} AS value FROM trackers_sample
        UNION ALL
        SELECT id, taken_at, measured_until, {metric} FROM trackers_tweet WHERE measurements > 0
    ),
    first AS (
        SELECT DISTINCT ON (tweet_id) tweet_id, value FROM runs
        WHERE measured_until >= %(start)s ORDER BY tweet_id, taken_at
    )
    SELECT t.id, t.{metric} - {base} FROM trackers_tweet t JOIN first f ON f.tweet_id = t.id
    WHERE t.{metric} - {base} > 0 ORDER BY 2 DESC, 1 DESC LIMIT %(most)s
"""


@pytest.fixture
def db():
    with cursor() as db:
        yield db


@pytest.fixture(autouse=True)
def _lists(monkeypatch):
    monkeypatch.setattr(update, "MAX_LIST_LENGTH", LENGTH)


def test_none_of_the_first_is_missing_and_few_are_ranked(db, capsys):
    for hours in range(-6, 36, 6):
        SAMPLES.make(SAMPLES.covering(NOON - hours * HOUR))
    start(db)
    shares = []
    for minute in range(MINUTES + 1):
        now = NOON + minute * MINUTE
        db.execute(GROW, {"at": now, "activity": 1 - 0.7 * minute / MINUTES})
        before = cpu(db)
        measure_all(db, now)
        saved = cpu(db) - before
        noted = {id for ids in Changed.objects.values_list("ids", flat=True) for id in ids}
        shares.append(len(noted) / TWEETS)
        worked = update.update_gains(now=now, deadline=Deadline.after(3_600))
        with capsys.disabled():
            print(
                f"\n{TWEETS:,} tweets, minute {minute}: {len(noted):,} noted, saved in"
                f" {saved:.1f} s; {worked.rows:,} ranked in {cpu(db) - before - saved:.1f} s"
            )
        if minute == MINUTES or not LARGE:
            assert missing(db, now) == []
    # At first each tweet is ranked that changes.
    assert shares[0] == 1
    assert max(shares[-3:]) <= 0.03


def start(db):
    """Tweets with a past; each was noted once."""
    db.execute("SELECT setseed(0.5)")
    db.execute(WORLD, {"now": NOON + MINUTES * MINUTE, "tweets": TWEETS}, prepare=False)
    db.execute("CREATE UNIQUE INDEX ON world (id)")
    db.execute(TRACK)
    for before in MEASURED_BEFORE:
        db.execute(GROWN, {"at": NOON - before})
        db.execute(PAST, {"at": NOON - before}, prepare=False)
    db.execute(GROWN, {"at": NOON - 2 * MINUTE})
    db.execute(HAVE, {"at": NOON - 2 * MINUTE}, prepare=False)
    db.execute(
        "INSERT INTO trackers_changed (ids) SELECT array_agg(id) FROM world GROUP BY id / 1000"
    )
    db.execute("ANALYZE trackers_tweet, trackers_sample, world", prepare=False)


def measure_all(db, now):
    db.execute(VALUES, {"at": now}, prepare=False)
    names = [column.name for column in db.description]
    measured = [
        Measured(row[0], now, Figures(**dict(zip(names[1:], row[1:], strict=True))), 60 * HOUR)
        for row in db
    ]
    for first in range(0, len(measured), 1_000):
        record(measured[first : first + 1_000])


def missing(db, now):
    """Those that a recount of all samples has among the first, and the list lacks."""
    lacking = []
    for window in (*Window, EVER):
        for metric in METRICS:
            sql = RECOUNT.format(metric=metric, base="f.value" if window else "0")
            since = now - window * MINUTE if window else NOON - timedelta(days=100)
            params = {"start": since, "most": PROMISED}
            first = db.execute(sql, params, prepare=False).fetchall()
            # With the last gain some are among the first by chance.
            last = first[-1][1] if len(first) == PROMISED else 0
            listed = Gain.objects.filter(minutes=window, metric=metric)
            ids = set(listed.values_list("tweet_id", flat=True))
            lacking += [
                (window, metric, id, gain) for id, gain in first if gain > last and id not in ids
            ]
    return lacking


def cpu(db):
    """Seconds of processor that this connection's server process has used."""
    [pid] = db.execute("SELECT pg_backend_pid()").fetchone()
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
