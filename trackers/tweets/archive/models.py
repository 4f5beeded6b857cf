"""The archive's index in the database: what lies in which file, so that nothing is listed."""

from __future__ import annotations

from typing import Self
from uuid import uuid4

from django.contrib.postgres.fields import ArrayField, BigIntegerRangeField
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Installation(models.Model):
    """Who this is to an archive, and which process is writing to it. One row, once it was asked."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    # In the database and in the archive; `restore` draws another one.
    known_as = models.UUIDField(default=uuid4)
    # What it was called before each restore, the first one first.
    formerly = ArrayField(models.UUIDField(), default=list, db_default=[])
    # A lease: only one process writes, and a dead one's ends by itself.
    writer = models.UUIDField(null=True)
    writes_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="installation_is_one"),
        ]

    def __str__(self) -> str:
        return str(self.known_as)

    @property
    def names(self) -> list[str]:
        """What it is called, then what it was called."""
        return [str(name) for name in (self.known_as, *self.formerly)]


class ArchiveMonth(models.Model):
    """A month of which something is archived."""

    month = models.DateField(primary_key=True)
    # How many parts were begun: no number is used twice.
    parts = models.IntegerField(default=0)
    # Up to the id of which tweet its facts are written, and the checkpoints of its posts.
    facts_up_to = models.BigIntegerField(default=0, db_default=0)
    checkpoints_up_to = models.BigIntegerField(default=0, db_default=0)
    # Its files changed since its manifest was written.
    manifest_is_due = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"


class ArchiveFileQuerySet(models.QuerySet["ArchiveFile"]):
    def written(self) -> Self:
        """Those that count."""
        return self.filter(state=ArchiveFile.State.WRITTEN)


class StoredFile(models.Model):
    """A file of the archive. It counts once it is written."""

    class State(models.TextChoices):
        WRITING = "writing", "being written"
        WRITTEN = "written", "written"
        REPLACED = "replaced", "replaced"

    path = models.CharField(max_length=200, unique=True)
    month = models.DateField()
    state = models.CharField(max_length=8, choices=State, default=State.WRITING)
    # When it got this state.
    at = models.DateTimeField()

    bytes = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    # Or its rows, where those are no samples.
    samples = models.BigIntegerField(default=0)
    tweets = models.BigIntegerField(default=0)
    # By column, as in `proof.Contents`.
    columns = models.JSONField(default=dict)

    # The ids in it, first and last included, of each row group too.
    ids = BigIntegerRangeField(null=True)
    first_ids = ArrayField(models.BigIntegerField(), default=list)
    last_ids = ArrayField(models.BigIntegerField(), default=list)
    # Where in the file each row group begins; after them, where the footer does.
    places = ArrayField(models.BigIntegerField(), default=list, db_default=[])

    class Meta:
        abstract = True
        indexes = [
            # "which of these files has this tweet?"
            GistIndex(fields=["ids"], name="%(class)s_ids", condition=Q(state="written")),
            models.Index(fields=["month"], name="%(class)s_month"),
        ]

    def __str__(self) -> str:
        return self.path


class ArchiveFile(StoredFile):
    """A file of samples. Until it counts, the rows are here."""

    # When its first sample began.
    taken_from = models.DateTimeField(null=True)

    objects = ArchiveFileQuerySet.as_manager()


class CompanionFile(StoredFile):
    """A file of facts or of checkpoints, of which the rows stay here too. Nothing here reads it."""

    objects: models.Manager[CompanionFile] = models.Manager()


class ErasedTweet(models.Model):
    """Removed: what the archive has of it is read no more, and goes with the next hour."""

    tweet_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return str(self.tweet_id)
