"""What grows fastest: from when until when a gain was measured, and that it sinks again."""

import os
from datetime import timedelta

import pytest

from tests.factories import TweetFactory
from tests.jobs.plans import nodes
from tests.tweets.gains.measured import HOUR, MINUTE, NOON, gains, kept, measure
from trackers.tweets import pack
from trackers.tweets.gains import update
from trackers.tweets.gains.models import Changed, Gain, Window
from trackers.tweets.models import Sample, Tweet
from trackers.tweets.pack import SAMPLES
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db

QUARTER, DAY = Window.QUARTER, Window.DAY
TWEETS = int(os.environ.get("GAINS_TWEETS", "20000"))


def test_a_gain_is_measured_within_the_window():
    tweet = TweetFactory()
    for minutes, likes in ((-70, 5), (2, 10), (30, 60), (58, 125)):
        measure(tweet, minutes, likes)

    kept(60)

    # Between -70 and 2 nobody knows when it rose from 5 to 10.
    assert gains() == [(tweet.id, 115, 2, 58)]
    assert gains(QUARTER) == []
    assert gains(DAY) == [(tweet.id, 120, -70, 58)]
    [one] = Gain.objects.fastest(Window.HOUR, "likes")
    assert one.velocity == pytest.approx(115 * 60 / 56)
    assert Changed.objects.count() == 0


def test_a_rise_within_a_minute_is_no_more_an_hour_than_one_within_five():
    burst, steady = TweetFactory.create_batch(2)
    measure(burst, 59, 0)
    measure(burst, 60, 90)
    measure(steady, 0, 0)
    measure(steady, 60, 2_000)

    kept(60)

    rates = {one.tweet_id: one.velocity for one in Gain.objects.fastest(Window.HOUR, "likes")}
    assert rates == {burst.id: pytest.approx(90 * 12), steady.id: pytest.approx(2_000)}
    assert gains(by="velocity")[0][0] == steady.id


def test_a_count_held_across_the_beginning_of_the_window_counts_there():
    tweet = TweetFactory()
    for minutes, likes in ((-30, 5), (-10, 5), (10, 5), (40, 8)):
        measure(tweet, minutes, likes)

    kept(60)

    assert gains() == [(tweet.id, 3, 0, 40)]


def test_a_tweet_without_growth_sinks_and_leaves_the_list():
    tweet = TweetFactory()
    for minutes, likes in ((0, 5), (1, 50), (2, 80)):
        measure(tweet, minutes, likes)
    kept(3)
    first = Gain.objects.fastest(QUARTER, "likes").get().velocity
    for minutes in (5, 8, 11):
        measure(tweet, minutes, 80)

    kept(12)
    assert gains(QUARTER) == [(tweet.id, 75, 0, 11)]
    assert Gain.objects.fastest(QUARTER, "likes").get().velocity < first
    kept(15.5)
    assert gains(QUARTER) == [(tweet.id, 30, 1, 11)]
    kept(18)
    assert gains(QUARTER) == []
    assert gains(Window.HOUR) == [(tweet.id, 75, 0, 11)]


def test_a_tweet_no_longer_measured_leaves_the_list():
    tweet = TweetFactory()
    measure(tweet, 0, 5)
    measure(tweet, 1, 50)
    kept(2)
    assert gains()

    kept(61.5)

    assert gains() == []


def test_falls_and_unknown_counts_are_no_gains():
    falls, unknown = TweetFactory(), TweetFactory()
    measure(falls, 0, 9)
    measure(falls, 1, 5)
    for minutes, views in ((0, None), (1, 7)):
        measure(unknown, minutes, minutes, views=views)

    kept(2)

    assert [one[0] for one in gains()] == [unknown.id]
    assert gains(metric="views") == []


def test_a_list_is_refreshed_only_after_its_time():
    tweet = TweetFactory()
    measure(tweet, 0, 5)
    measure(tweet, 1, 6)
    update.update_gains(now=NOON + 2 * MINUTE, deadline=Deadline.after(60))
    measure(tweet, 2.5, 9)
    update.update_gains(now=NOON + 3 * MINUTE, deadline=Deadline.after(60))

    assert gains(QUARTER) == [(tweet.id, 4, 0, 2.5)]
    assert gains(DAY) == [(tweet.id, 1, 0, 1)]

    update.update_gains(now=NOON + 17 * MINUTE, deadline=Deadline.after(60))
    assert gains(DAY) == [(tweet.id, 4, 0, 2.5)]


def test_gone_and_deleted_tweets_are_in_no_list():
    gone, deleted = TweetFactory(), TweetFactory()
    for tweet in (gone, deleted):
        measure(tweet, 0, 5)
        measure(tweet, 1, 6)
    kept(2)
    Tweet.objects.filter(pk=gone.pk).update(gone_at=NOON)
    Tweet.objects.filter(pk=deleted.pk).delete()

    assert gains() == []
    kept(3)
    assert Gain.objects.count() == 0


def test_the_day_before_is_read_from_packed_samples():
    for hours in range(0, 36, 6):
        SAMPLES.make(SAMPLES.covering(NOON - hours * HOUR))
    tweet = TweetFactory()
    for minutes, likes in ((-1500, 1), (-1300, 5), (-1200, 5), (-1100, 9), (-5, 20)):
        measure(tweet, minutes, likes)
    pack.pack(now=NOON, deadline=Deadline.after(60))
    assert not Sample.objects.filter(measured_until__lt=NOON - timedelta(hours=12)).exists()

    kept(0)
    assert gains(DAY) == [(tweet.id, 15, -1300, -5)]
    kept(200)
    assert gains(DAY) == [(tweet.id, 15, -1240, -5)]


def test_the_highest_counts_are_listed_from_the_first_measurement_on():
    low, high, still = TweetFactory.create_batch(3)
    measure(low, 0, 5)
    measure(high, 0, 6)
    measure(still, -90 * 24 * 60, 9)
    kept(1)
    assert [(one.tweet_id, one.gain) for one in Gain.objects.highest("likes")] == [
        (still.id, 9), (high.id, 6), (low.id, 5),
    ]  # fmt: skip

    measure(low, 2, 7)
    measure(high, 2, 3)
    update.update_gains(now=NOON + 3 * MINUTE, deadline=Deadline.after(60))
    assert [one.gain for one in Gain.objects.highest("likes")] == [9, 7, 6]
    # A fall is seen when the row's time is over.
    update.update_gains(now=NOON + 5 * MINUTE, deadline=Deadline.after(60))

    assert [one.gain for one in Gain.objects.highest("likes")] == [9, 7, 3]
    Tweet.objects.filter(pk=still.pk).delete()
    kept(4)
    assert Gain.objects.filter(tweet_id=still.pk).count() == 0


def test_a_full_list_keeps_the_most_and_the_fastest(monkeypatch):
    monkeypatch.setattr(update, "MAX_LIST_LENGTH", 2)
    tweets = TweetFactory.create_batch(6)
    for tweet, gain in zip(tweets, (1, 2, 3, 4, 5, 6), strict=True):
        measure(tweet, 0, 0)
        measure(tweet, 30, gain)
    fast = TweetFactory()
    measure(fast, 29, 0)
    measure(fast, 30, 2)

    kept(31)
    assert [id for id, *_ in gains()] == [tweets[5].id, tweets[4].id, fast.id]
    assert gains(by="velocity")[0][0] == fast.id

    late = TweetFactory()
    measure(late, 30, 0)
    measure(late, 59, 5)
    slow = TweetFactory()
    measure(slow, 2, 0)
    measure(slow, 59, 1)
    kept(59.5)
    assert {id for id, *_ in gains()} >= {tweets[5].id, late.id, fast.id}
    assert slow.id not in {id for id, *_ in gains()}


def test_changes_too_old_to_be_ranked_are_left_out(monkeypatch):
    monkeypatch.setattr(update, "DROP_AFTER", timedelta(minutes=15))
    tweet = TweetFactory()
    measure(tweet, 0, 5)
    measure(tweet, 1, 6)
    Changed.objects.update(at=NOON - HOUR)

    kept(2)

    assert gains() == []
    assert Changed.objects.count() == 0


def test_a_save_without_changes_records_nothing():
    tweet = TweetFactory()
    measure(tweet, 0, 5)
    Changed.objects.all().delete()
    measure(tweet, 1, 5)

    assert Changed.objects.count() == 0


FILL = """
    INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason, taken_at,
        measured_until, measurements, retweets, replies, likes, quotes, bookmarks, views)
    SELECT n, now(), '', false, '', %(now)s - interval '5 minutes', %(now)s - interval '1 minute',
           2, n %% 7, 1, 20 + n %% 50, 1, 1, 100 + n %% 9000
    FROM generate_series(1, %(tweets)s) n;
"""
SAMPLED = """
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements, retweets,
        replies, likes, quotes, bookmarks, views)
    SELECT n, at, at + interval '5 minutes', 1, 1, 1, 19, 1, 1, k
    FROM generate_series(1, %(tweets)s, 10) n, generate_series(1, 20) k,
         LATERAL (SELECT %(now)s - k * interval '10 minutes' - interval '5 minutes') AS t(at)
"""


@pytest.mark.parametrize("statistics", ["fresh", "of unmeasured tweets"])
def test_ranking_reads_only_changes_and_pages_read_an_index(capsys, statistics):
    now = NOON
    SAMPLES.make(SAMPLES.covering(now))
    SAMPLES.make(SAMPLES.covering(now - timedelta(hours=6)))
    with cursor() as db:
        db.execute(FILL, {"now": now, "tweets": TWEETS}, prepare=False)
        db.execute(SAMPLED, {"now": now, "tweets": TWEETS}, prepare=False)
        if statistics == "of unmeasured tweets":
            db.execute("UPDATE trackers_tweet SET measurements = 0", prepare=False)
        db.execute("ANALYZE trackers_tweet, trackers_sample", prepare=False)
        db.execute("UPDATE trackers_tweet SET measurements = 2", prepare=False)
        ids = list(range(1, TWEETS, max(1, TWEETS // 2_000)))
        plan = explained(db, ids, now)
    walked = {
        node["Relation Name"]
        for node in nodes(plan["Plan"])
        if node["Node Type"] == "Seq Scan" and node["Actual Rows"] * node["Actual Loops"] > 10
    }
    assert walked == set()
    with capsys.disabled():
        print(f"\n{TWEETS:,} tweets: {len(ids):,} ranked in {plan['Execution Time']:.0f} ms")

    update.rank(ids, update.lists_with_thresholds(), now=now)
    with cursor() as db:
        db.execute("ANALYZE trackers_gain", prepare=False)
    for by in ("gain", "velocity"):
        listed = Gain.objects.fastest(Window.HOUR, "views", by=by)[:50]
        assert f"gain_{by}" in listed.explain(), listed.explain()


def test_the_plan_of_a_piece_fits_its_number_of_tweets():
    """The plan for any number of them takes a hundred times as long for a thousand."""
    tweet = TweetFactory()
    measure(tweet, 0, 1)
    measure(tweet, 5, 100)

    for minute in range(12):
        kept(10 + minute)

    with cursor() as db:
        sql = "SELECT statement FROM pg_prepared_statements"
        prepared = [one for (one,) in db.execute(sql, prepare=False)]
    assert gains() != []
    assert any("DELETE FROM trackers_changed" in one for one in prepared)
    assert not any("gained AS MATERIALIZED" in one for one in prepared)


def explained(db, ids, now):
    params = {
        "ids": ids,
        "all": True,
        "now": now,
        "today": now.replace(hour=0),
        **update.lists_with_thresholds(),
    }
    db.execute("SAVEPOINT before", prepare=False)
    db.execute(update.INTERPRETED, prepare=False)
    statement = f"EXPLAIN (ANALYZE, FORMAT JSON) {update.GAINS}"
    told = db.execute(statement, params, prepare=False).fetchone()[0][0]
    db.execute("ROLLBACK TO before", prepare=False)
    return told
