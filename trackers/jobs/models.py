"""The rows of delayed queues: a queue with its knobs, and the abstract job.

A part that wants a queue declares a narrow table of its own, a subclass of `Job`, and one row in
`Queue`. All that `jobs` knows about a task is its dotted name, its knobs and its stop.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Now
from django.utils.module_loading import import_string

# The most keys in a bucket: about nine such rows fit into a page.
BUCKET_KEYS = 100
# The upper limit of `Job.most_keys`.
MAX_BATCH_KEYS = 1000
# Each reason is a line of its own on a page, so the text of an error must not hold secrets.
MAX_REASON_LENGTH = 300
# The queue of the tweets that wait for their next look-up: `updater` declares it, sources fill it.
TWEET_UPDATE = "tweet:update"


class Queue(models.Model):
    """One queue: which task gets its batches, its knobs and its stop."""

    name = models.CharField(max_length=60, primary_key=True)
    task = models.CharField(
        max_length=200, help_text="Dotted name of the function that is called with each batch."
    )

    batch_size = models.PositiveSmallIntegerField(
        default=100,
        help_text="Most keys in one batch. Tweets are taken in whole requests of 100.",
    )
    buffer_ttl = models.DurationField(
        default=timedelta(seconds=2),
        help_text="How long the oldest due key waits for a full batch before a partial one is "
        "claimed.",
    )
    lease = models.DurationField(
        default=timedelta(seconds=60),
        help_text="How long a claim lasts. When it expires, the keys of a dead worker are due "
        "again.",
    )
    retry_first = models.DurationField(
        default=timedelta(seconds=5),
        help_text="Back-off after the first failed request. It doubles with each further failure.",
    )
    retry_most = models.DurationField(
        default=timedelta(minutes=10), help_text="Longest back-off between failed requests."
    )
    arrivals_per_second = models.PositiveIntegerField(
        default=1000, help_text="Bulk arrivals are spread out to this many keys a second."
    )
    arrivals_until = models.DateTimeField(
        null=True, editable=False, help_text="When the last key of the bulk arrivals is due."
    )

    capacity = models.PositiveSmallIntegerField(
        null=True,
        editable=False,
        help_text="Keys of the last batch that fitted X's limits; null: all of them.",
    )

    paused = models.BooleanField(default=False, help_text="Nothing is claimed while this is set.")
    held_until = models.DateTimeField(null=True, blank=True, editable=False)
    held_reason = models.CharField(max_length=400, blank=True, editable=False)
    # Whether requests that failed hold it; else no credential may ask, or saves fail.
    held_by_failures = models.BooleanField(default=False, editable=False)
    failures = models.PositiveIntegerField(
        default=0, editable=False, help_text="Consecutive failed requests."
    )
    save_failures = models.PositiveIntegerField(
        default=0,
        editable=False,
        help_text="Consecutive batches that the database could not save. While there are some, one "
        "request at a time tries whether it can again.",
    )
    trial_until = models.DateTimeField(
        null=True, editable=False, help_text="A worker tries it until then, at the latest."
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(batch_size__gte=1, batch_size__lte=MAX_BATCH_KEYS),
                name="queue_batch_size",
            ),
            models.CheckConstraint(
                condition=Q(buffer_ttl__gte=timedelta(0), buffer_ttl__lt=F("lease")),
                name="queue_buffer_ttl_below_lease",
            ),
            models.CheckConstraint(
                condition=Q(retry_first__gt=timedelta(0), retry_most__gte=F("retry_first")),
                name="queue_retry_ladder",
            ),
            models.CheckConstraint(
                condition=Q(arrivals_per_second__gte=1), name="queue_arrivals_per_second"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Report each invalid knob beside its field."""
        from django.conf import settings

        faults: dict[str, str] = {}
        try:
            import_string(self.task)
        except ImportError:
            faults["task"] = f"There is no function {self.task}."
        if not 1 <= (self.batch_size or 0) <= self.most_keys:
            keys = "1 key" if self.most_keys == 1 else f"1 to {self.most_keys:,} keys"
            faults["batch_size"] = f"A batch of {self.name} has {keys}."
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

    @property
    def most_keys(self) -> int:
        """The largest batch that its task can take."""
        job = job_classes().get(self.name)
        return job.most_keys if job else MAX_BATCH_KEYS

    @property
    def request_keys(self) -> int:
        """How many keys a full request has."""
        job = job_classes().get(self.name)
        most = min(self.batch_size, self.most_keys)
        return min(most, job.request_keys) if job and job.request_keys else most

    def held(self, *, now: datetime) -> bool:
        return self.held_until is not None and self.held_until > now


# How many leases run out on a key before it is left to a person. One proves little, since the host
# may have been lost, so each only shrinks the key's batch: without a strike a whole batch, with one
# at most a request, with two a FEW keys, with three the key alone. `tables.on` puts these into SQL.
MAX_STRIKES = 4
SUSPECT_STRIKES = 2
SUSPECT_BATCH_KEYS = 10


class Job(models.Model):
    """A key that waits for its time; the authority on when that is. No status, no payload.

    waiting  --claim-->  claimed  --finish, release-->  waiting, or no row
                            |---the lease runs out: due again; strikes + 1 if it was begun

    One row for as long as the key is in the queue, and no index on what changes, so that moving it
    is a cheap HOT update. A claim finds it by its `Bucket`, the one with its key and its stamp.
    """

    key = models.BigIntegerField(primary_key=True)
    due_at = models.DateTimeField()
    # db_default: rows are also written in SQL, which may leave these columns out.
    strikes = models.SmallIntegerField(
        default=0,
        db_default=0,
        help_text="4: isolated, out of the queue until a person retries it.",
    )
    urgent = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Under backlog, claimed before keys that have been due for longer.",
    )
    stamp = models.BigIntegerField(null=True, help_text="The stamp of its bucket; null: isolated.")

    # The name of the queue, by which `jobs.tables` finds the table.
    queue: str
    # The table of its buckets.
    bucket: type[Bucket]
    # The largest batch that the queue's task can take. A claim takes no more, whatever the row of
    # the queue says, since a batch that is too large fails and costs each key a strike.
    most_keys: int
    # How many keys fill one of the task's requests; a batch is whole requests. None: it is one.
    request_keys: int | None = None

    class Meta:
        abstract = True
        indexes = [
            # Lists the isolated keys without scanning the queue; almost always empty.
            models.Index(
                fields=["key"], name="%(class)s_isolated", condition=Q(strikes__gte=MAX_STRIKES)
            ),
        ]


class Bucket(models.Model):
    """Up to a hundred keys that are due together; what a claim takes. One table beside each `Job`.

    A key lives in a bucket as long as its job has the bucket's stamp, so in one at most. Moving a
    key gives its job another stamp, removing it deletes the job, and neither looks for the bucket:
    the entry left there is dead, and the next claim that meets it drops it.
    """

    due_at = models.DateTimeField(
        help_text="When it may next be claimed; while it is claimed, when its lease expires."
    )
    lease = models.BigIntegerField(
        null=True, help_text="Fencing token of the claim; null: waiting."
    )
    strikes = models.SmallIntegerField(
        db_default=0, help_text="Leases that expired since the last success."
    )
    urgent = models.BooleanField(db_default=False)
    # Giving a batch back moves `due_at` but never this, so that waiting times stay true.
    due_since = models.DateTimeField(
        null=True,
        help_text="When its keys became due, kept from its first claim on; null: due_at.",
    )
    stamp = models.BigIntegerField()
    keys = ArrayField(models.BigIntegerField())

    class Meta:
        abstract = True
        indexes = [
            # Keeps a claim cheap over millions of future jobs.
            models.Index(fields=["due_at", "id"], name="%(class)s_due"),
            # The urgent ones. Not on `due_at` itself: with some statistics the planner would search
            # for them along the index above, through a whole backlog.
            models.Index(
                Case(When(urgent=True, then=F("due_at"))),
                F("id"),
                name="%(class)s_urgent",
                condition=Q(urgent=True),
            ),
            # Finds the buckets of a claim when it ends.
            models.Index(
                fields=["lease"], name="%(class)s_lease", condition=Q(lease__isnull=False)
            ),
            # What was claimed and is not finished, the longest due first: a few at any time.
            models.Index(
                fields=["due_since"],
                name="%(class)s_due_since",
                condition=Q(due_since__isnull=False),
            ),
            # The bucket of a key.
            models.Index(fields=["stamp"], name="%(class)s_stamp"),
        ]

    def __str__(self) -> str:
        return f"{len(self.keys)} keys, due at {self.due_at}"


class BegunBatch(models.Model):
    """A batch that a worker has begun, by the lease of its claim.

    If its worker dies, the row stays for a while. Keys that still carry its lease get a strike, if
    others could save meanwhile: a batch of the same queue, or of others where none was due.
    """

    lease = models.BigIntegerField(primary_key=True)
    queue = models.CharField(max_length=60)
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    # Whether, between the two, another batch of this queue was saved; and whether one of another
    # queue was, or an ordinary task was done (null: that proves nothing, and is not noted).
    queue_saved = models.BooleanField(db_default=False)
    others_saved = models.BooleanField(db_default=False, null=True)

    def __str__(self) -> str:
        return f"lease {self.lease} until {self.expires_at:%H:%M:%S}"


def job_classes() -> dict[str, type[Job]]:
    """The table of each declared queue, by its name."""
    return {job.queue: job for job in Job.__subclasses__()}


class PausedAll(models.Model):
    """There is a row while everything is paused."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    since = models.DateTimeField(db_default=Now())
    by = models.CharField(max_length=150)
    because = models.CharField(max_length=200, blank=True)
    # Those that ran before.
    queues = ArrayField(models.CharField(max_length=60))

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="pausedall_once")]

    def __str__(self) -> str:
        return f"everything paused by {self.by}"
