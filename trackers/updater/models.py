"""The queue of tweets to look up."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Func, IntegerField, Q
from django.db.models.lookups import GreaterThanOrEqual, LessThan

from trackers.jobs.models import TWEET_UPDATE, Bucket, Job

# The sample: keys whose 32-bit hash lies in this range, one in 32. Few enough not to slow down
# claims, and spread evenly over ages and projects, in whatever order they came.
HASHES = 2**32
SAMPLED_HASHES = HASHES // 32
_HASH = Func(F("key"), function="hashint8", output_field=IntegerField())
IN_SAMPLE = f"hashint8(key) >= 0 AND hashint8(key) < {SAMPLED_HASHES}"


class TweetBucket(Bucket):
    """Look-ups that are due together."""


class TweetUpdate(Job):
    """A tweet's next look-up; its key is the tweet's id."""

    queue = TWEET_UPDATE
    bucket = TweetBucket
    most_keys = 1000
    request_keys = 100

    # Written by `reserve`, and reset by the save. Anything else that moves the look-up leaves it as
    # it is, so that it differs from the due time.
    for_money_until = models.DateTimeField(
        null=True,
        help_text="Waits for money while this equals its due time; null: does not wait.",
    )

    class Meta(Job.Meta):
        indexes = [
            *Job.Meta.indexes,
            # Those that wait for money, for the filter of the page.
            models.Index(
                fields=["key"],
                name="tweetupdate_for_money",
                condition=Q(for_money_until__isnull=False),
            ),
            # For estimates that cost the same however many wait (trackers.updater.needs).
            models.Index(
                _HASH,
                name="tweetupdate_sample",
                condition=Q(GreaterThanOrEqual(_HASH, 0), LessThan(_HASH, SAMPLED_HASHES)),
            ),
        ]

    def __str__(self) -> str:
        return f"look-up of {self.key}"

    @property
    def waits_for_money(self) -> bool:
        return self.for_money_until is not None and self.for_money_until == self.due_at
