"""The processes at work, and what they counted, saw and noted."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models.functions import Now

from trackers.jobs.models import MAX_REASON_LENGTH


class WorkerQuerySet(models.QuerySet["Worker"]):
    def alive(self, *, now: datetime) -> WorkerQuerySet:
        return self.filter(seen_at__gt=now - Worker.SILENT_AFTER)


class Worker(models.Model):
    """A process of a cluster, as last reported."""

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
    # When it last finished or gave back a batch; the watchdog relies on this.
    done_at = models.DateTimeField(null=True)

    objects = WorkerQuerySet.as_manager()

    class Meta:
        ordering = ["host", "cluster", "kind", "pid"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "host", "pid"], name="worker_process")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pid} on {self.host}"


class QueueCounters(models.Model):
    """What one worker process did in one minute; summed up for `status` and the pages."""

    # Upper bounds of the lateness counts, in seconds; one more count has what was later still.
    LATENESS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)

    queue = models.CharField(max_length=60)
    minute = models.DateTimeField()
    host = models.CharField(max_length=255)
    pid = models.IntegerField()

    # Requests, in fact: a batch of several look-ups counts that many times.
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
                fields=["minute", "queue", "host", "pid"], name="counters_of_a_minute"
            )
        ]

    def __str__(self) -> str:
        return f"{self.queue} {self.minute:%Y-%m-%d %H:%M}"


class QueueStatistics(models.Model):
    """What a cluster last saw of one queue; written and read by `jobs.statistics`."""

    queue = models.CharField(max_length=60, primary_key=True)

    # Taken every few seconds by bounded counts; null: not yet.
    taken_at = models.DateTimeField(null=True)
    due = models.IntegerField(default=0)
    oldest_due_seconds = models.FloatField(default=0)
    oldest_urgent_seconds = models.FloatField(default=0)
    in_flight = models.IntegerField(default=0)
    scheduled = models.IntegerField(default=0)
    isolated = models.IntegerField(default=0)
    checked_last_minute = models.IntegerField(default=0)
    lateness_p50_seconds = models.FloatField(null=True)
    lateness_p99_seconds = models.FloatField(null=True)
    batch_fill = models.FloatField(null=True)
    counted_at = models.DateTimeField(null=True)

    # The last count of the whole queue, and how long it took.
    whole_at = models.DateTimeField(null=True)
    whole_took = models.DurationField(default=timedelta(0))
    whole_scheduled = models.IntegerField(default=0)
    whole_due = models.IntegerField(default=0)
    whole_in_flight = models.IntegerField(default=0)

    def __str__(self) -> str:
        return f"statistics of {self.queue}"

    def may_be_counted(self, now: datetime, *, pauses: int) -> bool:
        """Whether the last whole count ended at least `pauses` times its own duration ago."""
        return self.whole_at is None or now >= self.whole_at + pauses * self.whole_took


class QueueMinute(models.Model):
    """The largest figures that were seen in a minute; `measured` and `failed` once it is over."""

    pk = models.CompositePrimaryKey("queue", "minute")
    queue = models.CharField(max_length=60)
    minute = models.DateTimeField()
    due = models.IntegerField()
    oldest_due_seconds = models.FloatField()
    in_flight = models.IntegerField()
    measured = models.BigIntegerField(null=True)
    failed = models.BigIntegerField(null=True)

    class Meta:
        # "which are of this time?", and which are old.
        indexes = [models.Index(fields=["minute"], name="queueminute_minute")]

    def __str__(self) -> str:
        return f"{self.queue} {self.minute:%Y-%m-%d %H:%M}"


class QueueHour(models.Model):
    """The same for an hour: the largest depth and age of its minutes, and all that was done."""

    pk = models.CompositePrimaryKey("queue", "hour")
    queue = models.CharField(max_length=60)
    hour = models.DateTimeField()
    due = models.IntegerField()
    oldest_due_seconds = models.FloatField()
    in_flight = models.IntegerField()
    measured = models.BigIntegerField(null=True)
    failed = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["hour"], name="queuehour_hour")]

    def __str__(self) -> str:
        return f"{self.queue} {self.hour:%Y-%m-%d %H}:00"


class DatabaseMinute(models.Model):
    """The database's own figures in a minute."""

    minute = models.DateTimeField(primary_key=True)
    # How many bytes of WAL the server has ever written.
    wal = models.BigIntegerField()
    size = models.BigIntegerField()
    connections = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.minute:%Y-%m-%d %H:%M}"


class ClockReading(models.Model):
    """The database's time when a task that deletes what is old last ran (`clock_jumps`)."""

    task = models.CharField(max_length=60, primary_key=True)
    read_at = models.DateTimeField()
    # Since when its clock is doubted, and nothing is deleted; null: it is believed.
    doubted_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.task} at {self.read_at:%Y-%m-%d %H:%M}"


class NotedTask(models.Model):
    """A batch, or an ordinary task, that failed or took longer than SLOW_AFTER."""

    # Empty: an ordinary task.
    queue = models.CharField(max_length=60, blank=True)
    name = models.CharField(max_length=200)
    keys = models.IntegerField(null=True)
    ended_at = models.DateTimeField(db_default=Now())
    took = models.DurationField()
    failed = models.BooleanField()
    reason = models.CharField(max_length=MAX_REASON_LENGTH, blank=True)
    host = models.CharField(max_length=255)
    pid = models.IntegerField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} {'failed' if self.failed else 'took'} {self.took}"

    @property
    def short_name(self) -> str:
        return self.name.removeprefix("trackers.tasks.")
