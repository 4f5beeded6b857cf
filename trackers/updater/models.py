"""The queue of tweets to look up."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from trackers.jobs.models import STRIKES, Job
from trackers.schedule.namespace import TWEET_UPDATE


class TweetUpdate(Job):
    """A tweet's next look-up; its key is the tweet's id."""

    namespace = TWEET_UPDATE

    class Meta(Job.Meta):
        indexes = [
            *Job.Meta.indexes,
            # The isolated ones, so that listing them never scans the queue; almost always empty.
            models.Index(
                fields=["key"], name="tweetupdate_isolated", condition=Q(attempts__gte=STRIKES)
            ),
        ]

    def __str__(self) -> str:
        return f"look-up of {self.key}"


class IsolatedTweet(TweetUpdate):
    """Look-ups that three workers did not survive; they wait for a person. For the admin's list."""

    class Meta:
        proxy = True
