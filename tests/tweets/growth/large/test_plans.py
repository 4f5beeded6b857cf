"""What one tweet is compared with costs the same however many tweets there are.

`GROWTH_TWEETS=1000000 pytest tests/tweets/growth/large/test_plans.py -s` tells the figures of a
million.
"""

import os
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.pages.many import fill
from tests.plans import watched
from trackers.tweets.growth.at_ages import ages, at_ages
from trackers.tweets.growth.earlier import half_life, of_author, of_these
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

TWEETS = int(os.environ.get("GROWTH_TWEETS", "20000"))
SAMPLES = int(os.environ.get("GROWTH_SAMPLES", "40"))
MOST = 50

# Every tweet of the most frequent author has a month of samples.
PACKED = """
    INSERT INTO trackers_packedsamples (tweet_id, month, taken_at, measured_until, measurements,
                                        retweets, replies, likes, quotes, bookmarks, views)
    SELECT t.id, date_trunc('month', t.created_at AT TIME ZONE 'UTC')::date,
           array_agg(t.created_at + n * interval '1 minute'),
           array_agg(t.created_at + n * interval '1 minute'), array_agg(1),
           array_agg(n), array_agg(n), array_agg(n), array_agg(n), array_agg(n), array_agg(n)
    FROM (SELECT * FROM trackers_tweet WHERE author_id = 1 ORDER BY id DESC LIMIT 500) t
    CROSS JOIN generate_series(1, %s) n
    GROUP BY t.id, t.created_at
"""


def test_tweets_for_comparison_are_read_by_key_and_limited(capsys, monkeypatch):
    fill(TWEETS)
    with cursor() as db:
        db.execute(PACKED, (SAMPLES,))
        db.execute("ANALYZE trackers_packedsamples")
    now = timezone.now()
    tweet = Tweet.objects.filter(author=1).latest("pk")
    asked = ages(timedelta(days=7), count=48)

    def read():
        own = of_author(1, most=MOST)
        at_ages(own, asked, now=now)
        of_these([one.id for one in own])
        half_life(tweet.pk, tweet.created_at, "likes", 30)
        return own

    own = read()
    began = time.perf_counter()
    read()
    took = time.perf_counter() - began
    with watched(monkeypatch) as watch:
        read()

    tables = {one for one in watch.reached if one.table.startswith("trackers_")}
    rows = {mode: sum(one.rows for one in tables if one.mode == mode) for mode in
            {one.mode for one in tables}}  # fmt: skip
    with capsys.disabled():
        print(f"\n{TWEETS:,} tweets, {SAMPLES:,} samples each: {took * 1000:.0f} ms, rows {rows}")
    # All, or those that are neither retweets nor versions.
    assert 0 < len(own) <= MOST
    assert max(rows.values()) < 30 * MOST
    scans = [one for one in tables if one.how == "Seq Scan" and one.table == "trackers_tweet"]
    assert scans == []
