"""Who subscribes to which topics, and their batches of events.

Topic ─ Subscription ─ Subscriber ─ EventBatch ─> Attempt (trackers/events/delivery)
A batch is early (waiting for more events, or for its next try), ready, pending (on its way, under
a lease), or set aside (refused for what it contains, until a person decides). Once delivered it is
deleted, and only its attempt is left. At most one batch of a
subscriber is `current` and takes new events. The others never change their events, or their `uid`.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.validators import ArrayMaxLengthValidator
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from trackers.credentials.secrets import EncryptedJSONField
from trackers.events.delivery.formats import FIGURES_ORDER
from trackers.events.subscribers.rules import (
    MOST_CONCURRENCY,
    MOST_EVENTS,
    MOST_FILTERED,
    MOST_RATE,
    MOST_TIMEOUT,
    NAME,
    NAME_RULE,
    check_callback,
)
from trackers.outbox.models import Topic

HEALTHY = 100


class Subscriber(models.Model):
    """Who gets events, where, and in which form."""

    class Format(models.TextChoices):
        ROUTEMASTER = "routemaster", "Routemaster"
        CLOUDEVENTS = "cloudevents", "CloudEvents batch"

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[RegexValidator(NAME, f"A name {NAME_RULE}")],
        help_text="Lower-case letters, digits, : _ and -. It cannot be changed later.",
    )
    token = models.OneToOneField(
        "ApiToken", on_delete=models.CASCADE, null=True, blank=True, related_name="subscriber"
    )
    callback = models.CharField(
        max_length=2000,
        validators=[check_callback],
        help_text="The https address that batches are sent to.",
    )
    # `uuid`: the user name of Basic auth, as Routemaster sends it. `signing`: the signing secrets,
    # newest first. `headers`: the subscriber's own headers, by name.
    secrets = EncryptedJSONField()

    max_events = models.PositiveIntegerField(
        default=100,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_EVENTS)],
        help_text="Most events in one batch.",
    )
    timeout_ms = models.PositiveIntegerField(
        default=500,
        validators=[MaxValueValidator(MOST_TIMEOUT)],
        help_text="Milliseconds that a batch waits for more events, counted from its first.",
    )
    ordered = models.BooleanField(
        default=False,
        help_text="Deliver one batch at a time, in order. A failed batch holds up all later ones.",
    )
    concurrency = models.PositiveSmallIntegerField(
        default=4,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_CONCURRENCY)],
        help_text="Most batches in flight at once.",
    )
    rate = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_RATE)],
        help_text="Most events a second, on average. Leave empty for no limit.",
    )
    format = models.CharField(max_length=20, choices=Format, default=Format.ROUTEMASTER)
    newest_only = models.BooleanField(
        default=True,
        help_text="If several changes of a tweet wait in one batch, deliver only the newest.",
    )
    with_data = models.BooleanField(
        default=False, help_text="Send the tweet's figures too, not only its address."
    )

    authors = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        validators=[ArrayMaxLengthValidator(MOST_FILTERED)],
        help_text="Author ids, separated by commas. Leave empty for all.",
    )
    sources = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        validators=[ArrayMaxLengthValidator(MOST_FILTERED)],
        help_text="Source numbers, as in the addresses of their pages. Leave empty for all.",
    )
    metric = models.CharField(
        max_length=20, blank=True, default="", choices=[(name, name) for name in FIGURES_ORDER]
    )
    at_least = models.BigIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Only changes of tweets whose figure is this or more.",
    )

    made_at = models.DateTimeField(db_default=Now())
    paused_at = models.DateTimeField(null=True, editable=False)
    # A removed one gets no more events, and is deleted when its last delivery has ended.
    removed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def batches_set_aside(self) -> models.QuerySet[EventBatch]:
        """Those that were first in line come first."""
        return self.batches.filter(place__lt=0).order_by("-place", "id")

    def batches_in_line(self) -> models.QuerySet[EventBatch]:
        return self.batches.filter(place__gte=0).order_by("place", "id")

    def clean(self) -> None:
        if bool(self.metric) != (self.at_least is not None):
            raise ValidationError(
                {"at_least": "Give a metric and its least figure, or neither, as in likes=1000."}
            )


class SubscriberState(models.Model):
    """A subscriber's health, and its books: added = delivered + dropped + what is in batches.

    Only batches of the kind `events` count, here and in the audit.
    """

    subscriber = models.OneToOneField(
        Subscriber, on_delete=models.CASCADE, primary_key=True, related_name="state"
    )
    # As in Routemaster: a delivery adds a point, a failure costs two.
    health = models.PositiveSmallIntegerField(default=HEALTHY, db_default=HEALTHY)
    # The gate: nothing is sent before this time. A failure moves it, for all batches.
    not_before = models.DateTimeField(null=True)
    attempted_at = models.DateTimeField(null=True)
    # With a rate: what was sent so far uses it up until then.
    paced_until = models.DateTimeField(null=True)
    # Shows that it takes batches, so that one which it refuses is refused for what it contains.
    delivered_at = models.DateTimeField(null=True)
    # Since when all deliveries have failed; null: the last one did not.
    failing_since = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=300, blank=True, default="", db_default="")

    added = models.BigIntegerField(default=0, db_default=0)
    delivered = models.BigIntegerField(default=0, db_default=0)
    dropped = models.BigIntegerField(default=0, db_default=0)
    # The totals of its batches. Each statement that creates or removes batches updates them, so
    # what waits is never added up; `trackers.events.audit` compares them with the batches once an
    # hour.
    waiting_batches = models.BigIntegerField(default=0, db_default=0)
    waiting_bytes = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(health__lte=HEALTHY), name="subscriber_health")
        ]

    def __str__(self) -> str:
        return f"state of {self.subscriber_id}"


class Subscription(models.Model):
    """A subscriber gets the events of a topic."""

    pk = models.CompositePrimaryKey("topic_id", "subscriber_id")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, db_index=False)
    subscriber = models.ForeignKey(
        Subscriber, on_delete=models.CASCADE, related_name="subscriptions"
    )
    made_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.subscriber_id} to {self.topic_id}"


class EventBatch(models.Model):
    """Events of one subscriber that are delivered together."""

    class State(models.TextChoices):
        EARLY = "early"
        READY = "ready"
        PENDING = "pending"
        SET_ASIDE = "aside"

    class Kind(models.TextChoices):
        """All but the first are sent by a person: once, before the others, and counted nowhere."""

        EVENTS = "events"
        TEST = "test"
        REDELIVERY = "redelivery"

    id = models.BigAutoField(primary_key=True)
    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    subscriber = models.ForeignKey(
        Subscriber, on_delete=models.CASCADE, related_name="batches", db_index=False
    )
    state = models.CharField(max_length=7, choices=State, default=State.EARLY)
    kind = models.CharField(
        max_length=10, choices=Kind, default=Kind.EVENTS, db_default=Kind.EVENTS
    )
    is_current = models.BooleanField(default=False, db_default=False)
    # In the subscriber's line; parts of one batch have its place, in the order of their ids. Below
    # 0: set aside from that place, so that however many are set aside, nobody passes over them.
    place = models.BigIntegerField()
    events = ArrayField(models.BigIntegerField())
    # Parallel to `events`: the tweet that each is a change of, or 0 if a newer event must not
    # replace it.
    keys = ArrayField(models.BigIntegerField())
    bytes = models.BigIntegerField()
    # When the oldest and the newest of its events were received, which gives their partitions.
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    made_at = models.DateTimeField(db_default=Now())
    # When an early batch becomes ready.
    deadline = models.DateTimeField()

    attempts = models.PositiveIntegerField(default=0, db_default=0)
    lease = models.BigIntegerField(null=True)
    leased_until = models.DateTimeField(null=True)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=300, blank=True, default="", db_default="")
    # What the receiver said about its content: when for the first time, how often so that it counts
    # (settle.sql), and the first kilobyte of its last answer.
    refused_at = models.DateTimeField(null=True)
    refusals = models.PositiveSmallIntegerField(default=0, db_default=0)
    refusal = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["subscriber"], condition=Q(is_current=True), name="eventbatch_one_current"
            ),
            models.CheckConstraint(
                condition=Q(is_current=False) | Q(state="early"), name="eventbatch_current_is_early"
            ),
            models.CheckConstraint(
                condition=Q(state="pending", lease__isnull=False)
                | (~Q(state="pending") & Q(lease=None)),
                name="eventbatch_pending_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(state="aside", place__lt=0) | (~Q(state="aside") & Q(place__gte=0)),
                name="eventbatch_aside_is_out_of_line",
            ),
        ]
        indexes = [
            # "which early batches are due to become ready?"
            models.Index(fields=["deadline"], name="eventbatch_early", condition=Q(state="early")),
            # A subscriber's line, for its page; and the ready batches in it, which were never
            # tried, or wait for another try.
            models.Index(fields=["subscriber", "place", "id"], name="eventbatch_line"),
            models.Index(
                fields=["subscriber", "place", "id"],
                name="eventbatch_first",
                condition=Q(state="ready", attempts=0),
            ),
            models.Index(
                fields=["subscriber", "place", "id"],
                name="eventbatch_retry",
                condition=Q(state="ready", attempts__gt=0),
            ),
            # A subscriber's batches on their way; also, as they are few, those whose lease ran out.
            models.Index(
                fields=["subscriber", "leased_until"],
                name="eventbatch_pending",
                condition=Q(state="pending"),
            ),
            # What to drop when too much waits: the oldest first, current ones last.
            models.Index(fields=["is_current", "made_at", "id"], name="eventbatch_oldest"),
        ]

    def __str__(self) -> str:
        return f"{len(self.events)} events for {self.subscriber_id}"


class TopicMinute(models.Model):
    """Events published in a topic in one minute, by when they were spread."""

    pk = models.CompositePrimaryKey("topic_id", "minute")
    # No foreign key: rows of what is deleted are gone an hour later.
    topic_id = models.BigIntegerField()
    minute = models.DateTimeField()
    events = models.BigIntegerField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["minute"], name="topicminute_oldest")]

    def __str__(self) -> str:
        return f"{self.events} in {self.topic_id} at {self.minute}"


class SubscriberMinute(models.Model):
    """Events delivered to a subscriber in one minute."""

    pk = models.CompositePrimaryKey("subscriber_id", "minute")
    subscriber_id = models.BigIntegerField()
    minute = models.DateTimeField()
    events = models.BigIntegerField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["minute"], name="subscriberminute_oldest")]

    def __str__(self) -> str:
        return f"{self.events} to {self.subscriber_id} at {self.minute}"
