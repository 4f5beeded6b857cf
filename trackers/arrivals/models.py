"""What came in from where, numbered so that a reader behind a mark misses nothing.

yield, author learnt ─> Arrival, numbered under the lock of its Origin ─> its delivery job
An origin is a source, by its id, or an account, by its negated id. It has a row only while somebody
follows it; nothing is written here for other origins.
"""

from __future__ import annotations

from django.db import models

from trackers.jobs.models import Bucket, Job


class Origin(models.Model):
    """A source or an account that somebody follows."""

    id = models.BigIntegerField(primary_key=True)
    # The number of its last arrival.
    clock = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"source {self.pk}" if self.pk > 0 else f"account {-self.pk}"


class Arrival(models.Model):
    """A tweet that came from an origin. Kept for some days, for readers who ask what is new."""

    pk = models.CompositePrimaryKey("origin_id", "number")
    origin = models.ForeignKey(
        Origin, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    # From one sequence for all origins, drawn under the lock on the origin's row. So numbers of one
    # origin commit in order; those of several need not.
    number = models.BigIntegerField()
    tweet_id = models.BigIntegerField()
    # The transaction, and the oldest one still open then: they make "what came since" exact.
    xid = models.BigIntegerField()
    horizon = models.BigIntegerField()
    came_at = models.DateTimeField()

    class Meta:
        indexes = [
            # "when did this tweet come?"
            models.Index(fields=["tweet_id"], name="arrival_of_tweet"),
        ]

    def __str__(self) -> str:
        return f"{self.tweet_id} from {self.origin_id}, number {self.number}"


class DeliveryBucket(Bucket):
    """Deliveries that are due together."""


class TimelineDelivery(Job):
    """An origin with something to deliver; its key is the origin's. One row, however much came."""

    queue = "timeline:deliver"
    bucket = DeliveryBucket
    most_keys = 10
    # A delivery never waits to fill a request, and has a bucket of its own.
    request_keys = 1

    def __str__(self) -> str:
        return f"delivery from {self.key}"
