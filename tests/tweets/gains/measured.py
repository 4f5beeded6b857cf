"""Tweets that are measured by the minute, and the lists that come of it."""

from datetime import UTC, datetime, timedelta

from tests.factories import figures
from trackers.tweets.gains import update
from trackers.tweets.gains.models import Changed, Gain, Window
from trackers.tweets.record import Measured, record
from tweetwatch.pieces import Deadline

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


def measure(tweet, minutes, likes, *, views=0):
    """So many minutes after noon."""
    at = NOON + minutes * MINUTE
    record([Measured(tweet.id, at, figures(likes, views=views), 60 * HOUR)])


def kept(minutes):
    """The lists are kept as they are after so many minutes."""
    Gain.objects.update(again_at=NOON)
    return update.update_gains(now=NOON + minutes * MINUTE, deadline=Deadline.after(60))


def gains(window=Window.HOUR, metric="likes", *, by="gain"):
    """(tweet, gain, minutes from, minutes until)"""
    return [
        (one.tweet_id, one.gain, (one.since - NOON) / MINUTE, (one.until - NOON) / MINUTE)
        for one in Gain.objects.fastest(window, metric, by=by)
    ]


def listed(window=Window.HOUR):
    return {id for id, *_ in gains(window)}


def noted():
    """The tweets that the next ranking takes."""
    return sorted(id for ids in Changed.objects.values_list("ids", flat=True) for id in ids)
