"""Checkpoints: what a tweet had at each of AGES, exact where two measurements enclose the age.

record ─> `Checkpoint`, a row per tweet and age ─> pack, after its day ─> `PackedCheckpoints`
     └──> `CrossedAges` (which tweets crossed which ages) ─> scores, every minute
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from trackers.tweets.checkpoints.ages import AGES


class Checkpoint(models.Model):
    """A tweet's metrics at one of AGES. Written by `record`, never changed.

    Partitioned by `crossed_at`; created by SQL in the migrations, so unmanaged here.
    """

    pk = models.CompositePrimaryKey("tweet_id", "age")
    tweet_id = models.BigIntegerField()
    age = models.SmallIntegerField()  # its place in AGES, from 1
    crossed_at = models.DateTimeField()  # when it was measured next
    retweets = models.IntegerField(null=True)
    replies = models.IntegerField(null=True)
    likes = models.IntegerField(null=True)
    quotes = models.IntegerField(null=True)
    bookmarks = models.IntegerField(null=True)
    views = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "trackers_checkpoint"

    def __str__(self) -> str:
        return f"{self.tweet_id} after {AGES[self.age - 1]}"


class PackedCheckpoints(models.Model):
    """A tweet's checkpoints of past days: parallel arrays."""

    tweet_id = models.BigIntegerField(primary_key=True)
    ages = ArrayField(models.SmallIntegerField())
    retweets = ArrayField(models.IntegerField(null=True))
    replies = ArrayField(models.IntegerField(null=True))
    likes = ArrayField(models.IntegerField(null=True))
    quotes = ArrayField(models.IntegerField(null=True))
    bookmarks = ArrayField(models.IntegerField(null=True))
    views = ArrayField(models.BigIntegerField(null=True))

    class Meta:
        managed = False
        db_table = "trackers_packedcheckpoints"

    def __str__(self) -> str:
        return f"{len(self.ages)} of {self.tweet_id}"


class CrossedAges(models.Model):
    """Tweets that crossed an age in one statement of `record`, and which: parallel arrays.

    Not in the WAL (unlogged): after a crash, scores are brought up to date at the next age.
    """

    at = models.DateTimeField(db_default=Now())
    ids = ArrayField(models.BigIntegerField())
    ages = ArrayField(models.SmallIntegerField())

    def __str__(self) -> str:
        return f"{len(self.ids)} at {self.at:%H:%M:%S}"
