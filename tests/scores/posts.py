"""Authors with posts that were measured, for tests of what is usual for them."""

from datetime import UTC, datetime, timedelta

from tests.factories import TweetFactory
from trackers.tweets.checkpoints.models import Checkpoint
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.snowflake import first_id_at

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def post(author, *, posted, kind=PostKind.TEXT, now=NOW, **counts):
    """A tweet posted so long ago, measured just now; `kind` None: a retweet."""
    [tweet] = _posts(author, [posted], kind=kind, now=now, **counts)
    return tweet


def _posts(author, ages, *, kind, now, **counts):
    """Together: tests of alerts have some two hundred each."""
    Author.objects.get_or_create(id=author)
    measured = {"taken_at": now, "measured_until": now, "measurements": 1, **counts}
    tweets = [
        TweetFactory.build(
            id=first_id_at(int((now - age).timestamp() * 1000)) + author,
            author_id=author,
            created_at=now - age,
            **measured,
        )
        for age in ages
    ]
    Tweet.objects.bulk_create(tweets)
    TweetText.objects.bulk_create(
        TweetText(tweet=tweet, text="words", kind=kind) for tweet in tweets
    )
    return tweets


def checkpoint(tweet, place, **counts):
    checkpoints(tweet, {place: counts})


def checkpoints(tweet, counts_at):
    """`counts_at`: by the place of the age."""
    Checkpoint.objects.bulk_create(
        Checkpoint(tweet_id=tweet.id, age=place, crossed_at=NOW, **counts)
        for place, counts in counts_at.items()
    )


def usual_posts(author, number, *, place, kind=PostKind.TEXT, first=timedelta(days=40), **counts):
    """So many posts of the author, each with these counts at the age of that place."""
    posts = _posts(
        author, [first + n * timedelta(minutes=7) for n in range(number)], kind=kind, now=NOW
    )
    Checkpoint.objects.bulk_create(
        Checkpoint(tweet_id=one.id, age=place, crossed_at=NOW, **counts) for one in posts
    )
    return posts
