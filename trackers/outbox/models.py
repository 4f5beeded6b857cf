"""Topics and their events, stored in the transaction of their cause.

a change ─> Event rows, and one Staged row with their ids ─> batches of the subscribers
Storing an event never waits for a subscriber: it only inserts rows, and `trackers.events.fan_out`
gives them to the subscribers after the commit.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now

TWEETS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, ALERTS_TOPIC = (
    "tweets",
    "milestones",
    "sources",
    "alerts",
)
OUR_PUBLISHER = "tweetwatch"


class Topic(models.Model):
    """What events are published in, and subscribed to."""

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[
            RegexValidator(r"\A[a-z_]{1,64}\Z", "Use up to 64 lowercase letters and underscores.")
        ],
    )
    # The only one who may publish in it, by the name of its token; OURS for our own topics. A topic
    # without one was created by a subscription, and goes to the first who publishes in it.
    publisher = models.CharField(max_length=64, blank=True, default="", db_default="")
    # Whether it has subscribers; set when one subscribes or leaves. Our own topics are not recorded
    # without any.
    wanted = models.BooleanField(default=False, db_default=False)
    # The same for the live feed, extended for a while at a time (`trackers.events.live.watch`).
    watched_until = models.DateTimeField(null=True, editable=False)
    events = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="Events since the topic was created, counted as they are fanned out.",
    )
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Event(models.Model):
    """Something that happened. Written once, and never changed.

    Partitioned by the day of `received_at`; created by SQL in the migrations, so unmanaged here.
    """

    class Type(models.TextChoices):
        CREATE = "create"
        UPDATE = "update"
        DELETE = "delete"
        NOOP = "noop"

    pk = models.CompositePrimaryKey("id", "received_at")
    id = models.BigIntegerField()
    received_at = models.DateTimeField()
    topic = models.ForeignKey(Topic, on_delete=models.DO_NOTHING)
    type = models.TextField(choices=Type)
    # When, in milliseconds since 1970; strictly increasing for each tweet.
    t = models.BigIntegerField()
    # The tweet; its address is that of the API, and `url` is null.
    tweet_id = models.BigIntegerField(null=True)
    url = models.TextField(null=True)  # noqa: DJ001
    # For a tweet's update, the six before and the six after (null where unknown).
    figures = ArrayField(models.BigIntegerField(null=True), null=True)
    data = models.JSONField(null=True)

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.type} {self.tweet_id or self.url}"


class Staged(models.Model):
    """Events of one transaction, in order, that the subscribers have not been given yet."""

    id = models.BigAutoField(primary_key=True)
    received_at = models.DateTimeField()
    # Their ids. The first are of updates that are nowhere else yet: the table's column `updates`,
    # which SQL alone writes and reads, has what the spread makes their rows of.
    events = ArrayField(models.BigIntegerField())
    # The id of the only subscriber that they are for, whatever it subscribes to: a test, or a
    # repeated delivery.
    only_for = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{len(self.events)} events of {self.received_at}"


class Finding(models.Model):
    """Something that was wrong when it was last observed."""

    of = models.CharField(max_length=120, primary_key=True)
    # The rule that watches for it; null for what tweetwatch watches by itself.
    rule = models.ForeignKey(
        "trackers.AlertRule", on_delete=models.CASCADE, null=True, related_name="+"
    )
    # Null while nothing is wrong and it only keeps quiet.
    since = models.DateTimeField(null=True)
    # When it became an alert.
    alerted_at = models.DateTimeField(null=True)
    # No alert of it before then.
    quiet_until = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # "which rest, and may be deleted?"
            models.Index(
                fields=["quiet_until"], name="finding_resting", condition=models.Q(since=None)
            ),
            # "what is wrong now?" What rests may be much more.
            models.Index(
                fields=["of"], name="finding_wrong", condition=models.Q(since__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.of} since {self.since}"
