"""Authors with posts that were measured, for tests of what is usual for them."""

from datetime import UTC, datetime, timedelta

from tests.factories import TweetFactory
from trackers.tweets.checkpoints.models import Checkpoint
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Author, TweetText
from trackers.tweets.snowflake import first_id_at

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def post(author, *, posted, kind=PostKind.TEXT, now=NOW, **counts):
    """A tweet posted so long ago, measured just now; `kind` None: a retweet."""
    Author.objects.get_or_create(id=author)
    born = now - posted
    id = first_id_at(int(born.timestamp() * 1000)) + author
    tweet = TweetFactory(
        id=id, author_id=author, created_at=born, taken_at=now, measured_until=now, measurements=1,
        **counts,
    )  # fmt: skip
    TweetText.objects.create(tweet=tweet, text="words", kind=kind)
    return tweet


def checkpoint(tweet, place, **counts):
    Checkpoint.objects.create(tweet_id=tweet.id, age=place, crossed_at=NOW, **counts)


def usual_posts(author, number, *, place, kind=PostKind.TEXT, first=timedelta(days=40), **counts):
    """So many posts of the author, each with these counts at the age of that place."""
    posts = [
        post(author, posted=first + n * timedelta(minutes=7), kind=kind) for n in range(number)
    ]
    for one in posts:
        checkpoint(one, place, **counts)
    return posts
