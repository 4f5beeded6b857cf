"""An import: how a file is read, what became of its lines, and its parts' queue."""

from __future__ import annotations

from django.db import models

from trackers.ingest.sources.models import Source
from trackers.jobs.models import Bucket, Job
from trackers.tweets.lookups import LookupsCounted


class Import(LookupsCounted):
    """How a file is read, and what became of its lines."""

    source = models.OneToOneField(
        Source, on_delete=models.CASCADE, primary_key=True, related_name="report"
    )
    format = models.CharField(max_length=10)
    column = models.CharField(max_length=200, blank=True)
    referenced = models.BooleanField(default=False)
    # The column or field that says when the counts were measured; empty: as twarc writes it.
    measured_at = models.CharField(max_length=200, blank=True, db_default="")
    # Objects that look like accounts are taken as tweets too.
    anyway = models.BooleanField(default=False, db_default=False)
    # What was guessed or left out; shown before a person starts it.
    note = models.TextField(blank=True)
    # A table's header is put before the lines of each part.
    header = models.TextField(blank=True)
    bytes = models.BigIntegerField(default=0)
    # What it contains, unpacked: bytes and lines; for an archive, each file with its first line.
    unpacked = models.BigIntegerField(default=0, db_default=0)
    lines = models.BigIntegerField(default=0, db_default=0)
    files = models.JSONField(default=list)
    # Lines of all its parts, of which the first tells how many tweets there are in about.
    records = models.BigIntegerField(default=0, db_default=0)
    # Ids and texts only: its tweets are tracked, and looked up once they are resumed.
    paused = models.BooleanField(default=False, db_default=False)
    parts = models.IntegerField(default=0)
    parts_done = models.IntegerField(default=0)
    read = models.BigIntegerField(default=0)
    tracked = models.BigIntegerField(default=0)
    already = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    # How many of the tracked ones came with something odd, which was left out.
    warnings = models.BigIntegerField(default=0, db_default=0)
    uploaded_at = models.DateTimeField(null=True)
    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"import of {self.source.of}"


class ImportPart(models.Model):
    """Some whole lines of the file, packed; the row is deleted once they are tracked."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="parts")
    first_line = models.BigIntegerField()
    lines = models.BinaryField()

    def __str__(self) -> str:
        return f"source {self.source_id} from line {self.first_line}"


class RejectedLine(models.Model):
    """A line without a tweet, or a warning about one whose tweet is `tracked`, and why.

    The first thousand of each are kept per file.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="rejected_lines")
    line = models.BigIntegerField()
    text = models.CharField(max_length=80)
    why = models.CharField(max_length=300)
    tracked = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["line"]
        constraints = [
            # A part that is imported again after a crash reports its lines once.
            models.UniqueConstraint(fields=["source", "tracked", "line"], name="rejected_line_once")
        ]

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}"


class ImportBucket(Bucket):
    """Parts that are due together."""


class ImportJob(Job):
    """A part's turn; its key is the part's id."""

    queue = "import:part"
    bucket = ImportBucket
    most_keys = 1

    def __str__(self) -> str:
        return f"import of part {self.key}"
