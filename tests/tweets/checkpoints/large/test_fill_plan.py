"""A piece of the fill reads its own tweets, however many there are.

`FILLED_TWEETS=1000000 pytest tests/tweets/checkpoints/large -s` prints the time of a piece.
"""

import os
import time
from datetime import UTC, datetime

import pytest
from django.core.cache import cache

from tests.plans import watched
from trackers.tweets.checkpoints import fill
from trackers.tweets.checkpoints.fill import fill_checkpoints
from trackers.tweets.pack import CHECKPOINTS, SAMPLES
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db
TWEETS = int(os.environ.get("FILLED_TWEETS", "20000"))
NOW = datetime(2026, 3, 2, tzinfo=UTC)
LARGE = ("trackers_tweet", "trackers_sample", "trackers_packedsamples", "trackers_checkpoint",
         "trackers_packedcheckpoints")  # fmt: skip
FILL = (
    """
    INSERT INTO trackers_tweet (id, created_at, tracked_at, came_from, paused, missing_reason,
                                taken_at, measured_until, measurements, likes, views)
    SELECT n::bigint << 22, %(now)s - interval '1 day', %(now)s, '', false, '',
           %(now)s - interval '1 hour', %(now)s, 5, n %% 1000, n
    FROM generate_series(1, %(count)s) n
    """,
    """
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements, likes, views)
    SELECT n::bigint << 22, %(now)s - (25 - nth) * interval '55 minutes',
           %(now)s - (25 - nth) * interval '55 minutes', 1, nth, n * nth
    FROM generate_series(1, %(count)s) n, generate_series(1, 24) nth
    """,
    "ANALYZE trackers_tweet, trackers_sample, trackers_checkpoint, trackers_packedcheckpoints",
)


def test_a_piece_of_the_fill_reads_its_tweets_by_their_keys(monkeypatch):
    SAMPLES.make_ahead(now=NOW)
    CHECKPOINTS.make_ahead(now=NOW)
    with cursor() as db:
        for statement in FILL:
            params = {"now": NOW, "count": TWEETS}
            db.execute(statement, params if "%(" in statement else None, prepare=False)
    cache.set("checkpoints-filled-up-to", (TWEETS // 2) << 22)

    began = time.monotonic()
    piece = next(fill_checkpoints())
    print(f"\n{TWEETS:,} tweets: a piece of 1,000 in {time.monotonic() - began:.2f} s")
    assert (piece.tweets, piece.checkpoints > 5_000) == (1_000, True)

    monkeypatch.setattr(fill, "_TWEETS_PER_PIECE", 100)
    with watched(monkeypatch) as watch:
        next(fill_checkpoints())

    large = [one for one in watch.reached if one.table.startswith(LARGE)]
    assert {one.table for one in large} >= {"trackers_tweet", "trackers_packedcheckpoints"}
    assert [one for one in large if one.how == "Seq Scan" and one.rows > 0] == []
    assert max(one.rows for one in large) <= 25 * 100
