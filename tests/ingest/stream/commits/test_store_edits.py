"""Edited posts on the stream: each version comes as a post of its own, and is the same tweet."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum
from django.utils import timezone

from tests.factories import ProjectFactory, post
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.sources.models import Source, SourceDay, SourceTweet
from trackers.ingest.stream.lease import take_lease
from trackers.ingest.stream.lines import StreamBatch
from trackers.ingest.stream.listeners import Listeners, wanted_now
from trackers.ingest.stream.store import Margins, store
from trackers.money.models import Spending
from trackers.tweets.models import Tweet, TweetVersion
from trackers.updater.models import TweetUpdate

# Committed: what a batch inserts is told from what was there by the time of its transaction.
pytestmark = pytest.mark.django_db(transaction=True)

FIRST, SECOND = 2 << 60, (2 << 60) + 5
MARGINS = Margins(late_by=timedelta(0), acts_after=timedelta(0))


@pytest.fixture
def heard():
    """Stores batches of posts as a source's rule brings them."""
    project = ProjectFactory()
    source = Source.objects.create(kind="stream", of="#moon", created_at=timezone.now())
    lease = take_lease(timedelta(minutes=5))

    def hear(*posts):
        batch = StreamBatch(
            posts={one.id: FoundTweet(one.id, one, timezone.now()) for one in posts},
            sources={one.id: (source.pk,) for one in posts},
            lines=len(posts),
        )
        listeners = Listeners(wanted_now())
        store(batch, lease, listeners, MARGINS, project=project.pk, x_now=datetime.now(UTC))

    return hear


ORIGINAL = post(FIRST, text="first", likes=1)._replace(edit_history=(FIRST,))
EDITED = post(SECOND, text="second", likes=2)._replace(edit_history=(FIRST, SECOND))


@pytest.mark.parametrize(
    "batches", [[[ORIGINAL], [EDITED]], [[ORIGINAL, EDITED]]], ids=["two", "one"]
)
def test_two_versions_are_one_tweet_and_both_are_paid(heard, batches):
    for batch in batches:
        heard(*batch)

    tweet = Tweet.objects.select_related("tweettext").get()
    assert (tweet.pk, tweet.newest, tweet.tweettext.text) == (FIRST, SECOND, "second")
    assert [one.text for one in TweetVersion.objects.order_by("id")] == ["first", "second"]
    assert TweetUpdate.objects.filter(key=FIRST).count() == TweetUpdate.objects.count()
    assert SourceTweet.objects.get().tweet_id == FIRST
    assert Spending.objects.aggregate(Sum("posts"))["posts__sum"] == 2


def test_the_stream_counts_new_posts_and_their_cost_by_day(heard):
    heard(post(FIRST), post(FIRST + 9))
    heard(post(FIRST + 9), post(FIRST + 10))

    [day] = SourceDay.objects.all()
    assert (day.posts, day.again, day.billed) == (3, 1, 3)
    assert day.money == 3 * ProjectFactory._meta.model.objects.get().price_of_a_post
    assert Spending.objects.aggregate(Sum("posts"))["posts__sum"] == day.billed


def test_a_late_version_is_paid_and_changes_nothing(heard):
    heard(EDITED)
    heard(ORIGINAL)

    tweet = Tweet.objects.select_related("tweettext").get()
    assert (tweet.pk, tweet.newest, tweet.tweettext.text) == (SECOND, SECOND, "second")
    assert Spending.objects.aggregate(Sum("posts"))["posts__sum"] == 2
