"""The newest few samples of a tweet: all that a sparkline draws, and all that it costs."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import TweetFactory, figures
from tests.jobs.plans import nodes
from trackers.tweets.history import history
from trackers.tweets.models import PackedSamples
from trackers.tweets.record import Measured, record
from trackers.tweets.series import RECENT, recent_runs
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db

BORN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
MOST = 5


def packed(tweet, month, *, samples):
    """So many samples, a minute apart from the month's beginning."""
    first = BORN.replace(month=month)
    taken = [first + place * MINUTE for place in range(samples)]
    counts = list(range(month * 100_000, month * 100_000 + samples))
    PackedSamples.objects.create(
        tweet_id=tweet.id, month=first.date(), taken_at=taken, measured_until=taken,
        measurements=[1] * samples, retweets=counts, replies=counts, likes=counts, quotes=counts,
        bookmarks=[None] * samples, views=counts,
    )  # fmt: skip


def measured(tweet, *, times):
    for minute in range(times):
        at = BORN.replace(month=9) + minute * MINUTE
        record([Measured(tweet.id, at, figures(minute), DAY)])


@pytest.mark.parametrize(
    ("unpacked", "months"),
    [
        pytest.param(0, {}, id="never measured"),
        pytest.param(2, {}, id="new"),
        pytest.param(9, {8: 3}, id="enough that is not packed"),
        pytest.param(2, {7: 9, 8: 9}, id="the rest from the newest month"),
        pytest.param(1, {5: 9, 6: 3, 7: 1, 8: 2}, id="the rest from several months"),
        pytest.param(1, {5: 1, 8: 2}, id="fewer than that in all"),
        pytest.param(0, {7: 9, 8: 5}, id="packed alone, just as many"),
    ],
)
def test_the_newest_samples_are_the_end_of_the_history(unpacked, months):
    tweet, another = TweetFactory(), TweetFactory()
    for month, samples in months.items():
        packed(tweet, month, samples=samples)
    packed(another, 8, samples=3)
    measured(tweet, times=unpacked)

    found = recent_runs([tweet.id, another.id], most=MOST)

    assert found.get(tweet.id, []) == history(tweet.id)[-MOST:]
    assert found[another.id] == history(another.id)


def test_a_long_history_costs_no_more_than_the_drawn_part():
    tweet = TweetFactory()
    for month in range(1, 9):
        packed(tweet, month, samples=3000)
    measured(tweet, times=2)

    with cursor() as db:
        given = {"ids": [tweet.id], "most": MOST}
        rows = db.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {RECENT}", given).fetchone()

    plan = list(nodes(rows[0][0]["Plan"]))
    read = {node["Node Type"]: node["Actual Rows"] * node["Actual Loops"] for node in plan}
    months = [
        node["Actual Rows"] * node["Actual Loops"]
        for node in plan
        if node.get("Relation Name") == "trackers_packedsamples"
    ]
    assert max(read.values()) <= MOST
    assert sum(months) == 2, "the newest month, to see how long it is, and for its end"
