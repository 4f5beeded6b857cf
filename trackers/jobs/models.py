"""The delayed queue's rows: a namespace with its knobs, the abstract job, and who is at work.

A part that wants a queue declares a narrow table of its own, a subclass of `Job`, and one row in
`Namespace`. `jobs` knows a task's dotted name, its knobs and its stop, and no more of its meaning.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils.module_loading import import_string


class Namespace(models.Model):
    """One queue: which task gets its batches, and the knobs and the stop of it."""

    name = models.CharField(max_length=60, primary_key=True)
    task = models.CharField(
        max_length=200, help_text="Dotted name of the function that is called with each batch."
    )

    batch_size = models.PositiveSmallIntegerField(
        default=100, help_text="Keys in a batch at the most; X takes 100 in a request."
    )
    buffer_ttl = models.DurationField(
        default=timedelta(seconds=2),
        help_text="How long the oldest due key waits for company before a partial batch goes.",
    )
    lease = models.DurationField(
        default=timedelta(seconds=60),
        help_text="How long a claim is good for; a dead worker's keys are due again after it.",
    )
    retry_first = models.DurationField(
        default=timedelta(seconds=5), help_text="Wait after a first failed request; it doubles."
    )
    retry_most = models.DurationField(
        default=timedelta(minutes=10), help_text="The longest wait between failed requests."
    )
    arrivals_per_second = models.PositiveIntegerField(
        default=1000, help_text="What arrives in bulk is spread to this many keys a second."
    )
    arrivals_until = models.DateTimeField(
        null=True, editable=False, help_text="When the last key of the bulk arrivals is due."
    )

    paused = models.BooleanField(default=False, help_text="Nothing is claimed while this is set.")
    held_until = models.DateTimeField(null=True, blank=True, editable=False)
    held_because = models.CharField(max_length=200, blank=True, editable=False)
    failures = models.PositiveIntegerField(
        default=0, editable=False, help_text="Requests that failed in a row."
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(batch_size__gte=1, batch_size__lte=1000), name="namespace_batch_size"
            ),
            models.CheckConstraint(
                condition=Q(buffer_ttl__gte=timedelta(0), buffer_ttl__lt=F("lease")),
                name="namespace_buffer_ttl_below_lease",
            ),
            models.CheckConstraint(
                condition=Q(retry_first__gt=timedelta(0), retry_most__gte=F("retry_first")),
                name="namespace_retry_ladder",
            ),
            models.CheckConstraint(
                condition=Q(arrivals_per_second__gte=1), name="namespace_arrivals_per_second"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Each fault of the knobs in a sentence beside its field."""
        from django.conf import settings

        faults: dict[str, str] = {}
        try:
            import_string(self.task)
        except ImportError:
            faults["task"] = f"There is no function {self.task}."
        if not 1 <= (self.batch_size or 0) <= 1000:
            faults["batch_size"] = "A batch has 1 to 1000 keys."
        if self.lease is not None and self.lease <= timedelta(seconds=settings.TASK_TIMEOUT):
            faults["lease"] = (
                f"A lease must be longer than a task may run ({settings.TASK_TIMEOUT} s), "
                "or a slow task would lose its batch."
            )
        if None not in (self.buffer_ttl, self.lease) and not (
            timedelta(0) <= self.buffer_ttl < self.lease
        ):
            faults["buffer_ttl"] = "The buffer's time is from 0 to less than the lease."
        if None not in (self.retry_first, self.retry_most) and not (
            timedelta(0) < self.retry_first <= self.retry_most
        ):
            faults["retry_most"] = "The longest wait is at least the first, and that above 0."
        if not self.arrivals_per_second:
            faults["arrivals_per_second"] = "At least one key a second must arrive."
        if faults:
            raise ValidationError(faults)

    def held(self, *, now: datetime) -> bool:
        return self.held_until is not None and self.held_until > now


# Leases that ran out on a key before it is left to a person: two in company, and then two alone.
# One alone proves little, since its host may have been lost. SQL of the queue says it as 4.
STRIKES = 4


class Job(models.Model):
    """A key that waits for its time. One row while its cycle lasts; no status, no payload.

    waiting  --claim-->  claimed  --finish, release-->  waiting, or no row
                            |---the lease runs out: due again, attempts + 1

    `due_at` is when the key may next be claimed; while it is claimed, when its lease runs out.
    """

    key = models.BigIntegerField(primary_key=True)
    due_at = models.DateTimeField()
    lease = models.BigIntegerField(
        null=True, help_text="Fencing token of the claim; null: waiting."
    )
    attempts = models.SmallIntegerField(
        default=0, help_text="Leases that ran out since the last success."
    )

    # The queue this table is; `jobs.queue` finds the table by it.
    namespace: str

    class Meta:
        abstract = True
        # The one index that keeps a claim cheap over millions of future jobs.
        indexes = [models.Index(fields=["due_at"], name="%(class)s_due")]


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self, *, now: datetime) -> WorkerQuerySet:
        return self.filter(seen_at__gt=now - Worker.SILENT_AFTER)


class Worker(models.Model):
    """A process of a cluster, as it last told of itself."""

    SILENT_AFTER = timedelta(seconds=15)

    class Kind(models.TextChoices):
        MAIN = "main"
        SENTINEL = "sentinel"
        WORKER = "worker"
        PUSHER = "pusher"
        MONITOR = "monitor"

    cluster = models.UUIDField()
    host = models.CharField(max_length=255)
    pid = models.IntegerField()
    kind = models.CharField(max_length=10, choices=Kind)

    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    doing = models.CharField(max_length=200, blank=True)
    doing_since = models.DateTimeField(null=True)
    # The last time a batch was finished or given back: what the watchdog goes by.
    done_at = models.DateTimeField(null=True)

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["host", "cluster", "kind", "pid"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "host", "pid"], name="worker_process")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pid} on {self.host}"


class Tally(models.Model):
    """What one worker process did in one minute; the figures of status and of the pages."""

    # Upper bounds of the lateness counts, in seconds; the last count is what was later still.
    LATENESS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)

    namespace = models.CharField(max_length=60)
    minute = models.DateTimeField()
    host = models.CharField(max_length=255)
    pid = models.IntegerField()

    batches = models.IntegerField(default=0)
    asked = models.IntegerField(default=0)
    measured = models.IntegerField(default=0)
    changed = models.IntegerField(default=0)
    missing = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    late = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["minute", "namespace", "host", "pid"], name="tally_of_a_minute"
            )
        ]

    def __str__(self) -> str:
        return f"{self.namespace} {self.minute:%Y-%m-%d %H:%M}"
