"""What state a tweet is in, as one word that a person can filter by, and why."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from trackers.jobs.models import STRIKES
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

# The choices of the filter, in the order of the page.
STATES = {
    "fresh": "Kept fresh",
    "resting": "Resting",
    "paused": "Paused",
    "gone": "Gone",
}


@dataclass(frozen=True, slots=True)
class State:
    """`name` is one of STATES, "missing" (not yet confirmed) or "isolated"; `why` may be empty."""

    name: str
    words: str
    why: str = ""

    @property
    def is_scheduled(self) -> bool:
        return self.name in {"fresh", "missing", "gone"}


def state_of(tweet: Tweet, job: TweetUpdate | None) -> State:
    because = tweet.get_missing_because_display()
    if tweet.gone_at:
        return State("gone", "Gone", because)
    if tweet.paused:
        return State("paused", "Paused", "nobody looks it up until it is resumed")
    if job and job.attempts >= STRIKES:
        return State("isolated", "Isolated", "four look-ups of it never came to an end")
    if tweet.missing_since:
        return State("missing", "Missing", f"{because}; a second look will tell")
    if job:
        return State("fresh", STATES["fresh"])
    return State("resting", "Resting", "it is older than the last interval")


def in_state(tweets: QuerySet[Tweet], name: str) -> QuerySet[Tweet]:
    """Those in one of STATES. A tweet that is gone is that and nothing else."""
    scheduled = Exists(TweetUpdate.objects.filter(key=OuterRef("pk")))
    if name == "gone":
        return tweets.exclude(gone_at=None)
    if name == "paused":
        return tweets.filter(gone_at=None, paused=True)
    if name == "resting":
        return tweets.filter(~scheduled, gone_at=None, paused=False)
    if name == "fresh":
        return tweets.filter(scheduled, gone_at=None, paused=False)
    return tweets
