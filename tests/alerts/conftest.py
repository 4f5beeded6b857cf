"""Rules, and what a minute of them says."""

from datetime import UTC, datetime, timedelta

from tests.factories import TweetFactory
from trackers.alerts.judge import judge
from trackers.alerts.models import AlertRule
from trackers.tweets.gains.models import Gain, Window
from trackers.tweets.models import Author

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def rule(kind, **given):
    return AlertRule.objects.create(kind=kind, **{"name": kind, "rest": HOUR, **given})


def minute(nth=0, *looks):
    """What was told in that minute after noon: the state and the sentence of each alert."""
    news = judge(looks, now=NOW + nth * MINUTE)
    return [(one.state, one.what) for one in news]


def tweet(id, *, author=7, **given):
    Author.objects.get_or_create(id=author, defaults={"username": f"a{author}"})
    return TweetFactory(id=id, author_id=author, **given)


def moves(tweet, velocity, *, metric="likes", window=Window.HOUR):
    """It is in the list of what grows fastest."""
    Gain.objects.update_or_create(
        tweet_id=tweet.pk,
        minutes=window,
        metric=metric,
        defaults={
            "gain": int(velocity), "velocity": velocity, "since": NOW - HOUR, "until": NOW,
            "again_at": NOW + 10 * HOUR,
        },
    )  # fmt: skip
    return tweet


def stands_still(tweet):
    Gain.objects.filter(tweet_id=tweet.pk).delete()
