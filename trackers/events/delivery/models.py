"""Each attempt to deliver a batch, for some days."""

from __future__ import annotations

from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models

from trackers.events.models import EventBatch, Subscriber


class AttemptQuerySet(models.QuerySet["Attempt"]):
    def newest_of(
        self,
        subscriber: Subscriber,
        *,
        limit: int,
        outcome: str = "",
        before: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Attempt]:
        """Attempts to deliver to it in [since, until), newest first; `before`: of older ids."""
        attempts = self.filter(subscriber_id=subscriber.pk)
        if outcome:
            attempts = attempts.filter(outcome=outcome)
        if before is not None:
            attempts = attempts.filter(id__lt=before)
        if since is not None:
            attempts = attempts.filter(at__gte=since)
        if until is not None:
            attempts = attempts.filter(at__lt=until)
        return list(attempts.order_by("-id")[:limit])


class Attempt(models.Model):
    """An attempt to deliver a batch, with its outcome. Kept for some days.

    Partitioned by the day of `at`; created by SQL in the migrations, so unmanaged here.
    """

    class Outcome(models.TextChoices):
        DELIVERED = "delivered"
        FAILED = "failed"
        # 429 with the time to wait: it takes no harm from it.
        THROTTLED = "throttled"
        # The process that sent it never settled it.
        LOST = "lost"
        # The answer came after the lease had ended, and does not count.
        LATE = "late"

    pk = models.CompositePrimaryKey("id", "at")
    id = models.BigIntegerField()
    at = models.DateTimeField()
    subscriber = models.ForeignKey(Subscriber, on_delete=models.DO_NOTHING, related_name="+")
    uid = models.UUIDField()
    kind = models.TextField(choices=EventBatch.Kind)
    number = models.IntegerField()
    outcome = models.TextField(choices=Outcome)
    took_ms = models.IntegerField(null=True)
    status = models.IntegerField(null=True)
    error = models.TextField(blank=True)
    # The first kilobyte of the answer.
    answer = models.TextField(blank=True)
    events = ArrayField(models.BigIntegerField())
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    objects = AttemptQuerySet.as_manager()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.outcome} {self.uid}"


class LoggedAttempt(models.Model):
    """A row of Attempt for the admin, which cannot show a model with a composite key."""

    id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    subscriber = models.ForeignKey(Subscriber, on_delete=models.DO_NOTHING, related_name="+")
    uid = models.UUIDField("webhook-id")
    kind = models.TextField(choices=EventBatch.Kind)
    number = models.IntegerField()
    outcome = models.TextField(choices=Attempt.Outcome)
    took_ms = models.IntegerField("took, ms", null=True)
    status = models.IntegerField(null=True)
    error = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    events = ArrayField(models.BigIntegerField())

    class Meta:
        managed = False
        db_table = "trackers_attempt"
        verbose_name = "attempt"

    def __str__(self) -> str:
        return f"{self.outcome} {self.uid}"
