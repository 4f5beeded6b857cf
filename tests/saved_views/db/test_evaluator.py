"""A saved view's newest tweets, and which of some it has: the same ones, whatever it asks."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import TweetFactory, id_born
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.listing.saved import matching_among, newest_matches
from trackers.scores.models import Score
from trackers.tweets.models import Author, TweetText
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def posts():
    """Twelve, an hour apart: every second of ann, every third about the launch."""
    for id, name in ((1, "ann"), (2, "bob")):
        Author.objects.create(id=id, username=name)
    source = Source.objects.create(kind="account", of="ann")
    ids = []
    for n in range(12):
        tweet = TweetFactory(
            id=id_born(NOW - n * timedelta(hours=1), n), author_id=1 + n % 2, likes=10 * n,
            views=100, created_at=NOW - n * timedelta(hours=1),
        )  # fmt: skip
        words = "the launch is near" if n % 3 == 0 else "good morning"
        TweetText.objects.create(
            tweet=tweet, text=words, lang="de" if n % 4 == 0 else "en", edit_history=[],
            hashtags=["moon"] if n % 5 == 0 else None,
        )  # fmt: skip
        if n < 4:
            SourceTweet.objects.create(source=source, tweet_id=tweet.pk, seen_at=NOW)
        Score.objects.create(tweet=tweet, at=NOW, views=n, expected_views=50)
        ids.append(tweet.pk)
    tag_tweets(get_or_create_tag("to watch").pk, ids[3:9])
    return ids


VIEWS = {
    "": range(12),
    "sort=newest": range(12),
    "sort=likes&columns=likes": range(12),
    "author=ann": range(0, 12, 2),
    "author=@bob&sort=likes": range(1, 12, 2),
    "author=nobody": (),
    "q=launch": range(0, 12, 3),
    "q=@ann": range(0, 12, 2),
    "q=launch&author=ann": range(0, 12, 6),
    "q=launch&tag=to+watch": (3, 6),
    "tag=To+Watch": range(3, 9),
    "tag=none": (),
    "hashtag=moon": (0, 5, 10),
    "lang=de": (0, 4, 8),
    "source={source}": range(4),
    "min_likes=100": (10, 11),
    "min_score=10": (10, 11),
    "age=24h&min_likes=50&q=launch": (6, 9),
    "before=1&page=7": range(12),
    "state=nonsense": range(12),
}  # fmt: skip


@pytest.mark.parametrize("query", VIEWS)
def test_both_ways_find_the_same(posts, query):
    wanted = [posts[n] for n in VIEWS[query]]
    query = query.replace("{source}", str(Source.objects.get().pk))

    newest = newest_matches(query, now=NOW)

    assert (list(newest.ids), newest.complete_from) == (wanted, 0)
    assert matching_among(query, posts, now=NOW) == set(wanted)
    assert matching_among(query, posts[:3], now=NOW) == set(wanted) & set(posts[:3])
    assert matching_among(query, [], now=NOW) == set()
    assert list(newest_matches(query, now=NOW, most=2).ids) == wanted[:2]


def test_time_passes(posts):
    later = NOW + timedelta(hours=20)

    assert matching_among("age=24h", posts, now=NOW) == set(posts)
    assert matching_among("age=24h", posts, now=later) == set(posts[:5])
    assert list(newest_matches("age=24h", now=later).ids) == posts[:5]
