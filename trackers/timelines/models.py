"""Rows of timelines, and of who watches what.

Timeline ─ TimelineEntry: the store's, tombstones included.
Watcher ─ Follow ─> an origin (trackers.arrivals): a source, or an account by its negated id.

An entry is absent, live or dead, in this direction only: a dead one is a tombstone, and never comes
back. Every writer first locks the rows of its timelines, in the order of their names; only
the holder of that lock changes the timeline's entries, its `seq` and its `size`.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

MOST_LETTERS = 200


class Timeline(models.Model):
    """One that is not `live` was never set, or has expired; its row exists for its tombstones."""

    # Collation C: the order of code points, in which locks are taken, the same as in Python.
    name = models.CharField(max_length=MOST_LETTERS, db_collation="C")
    live = models.BooleanField(default=False, db_default=False)

    seq = models.BigIntegerField(
        default=0, db_default=0, help_text="Counts the writes that added something."
    )
    size = models.IntegerField(default=0, db_default=0, help_text="Live entries.")

    last_read_at = models.DateTimeField(db_default=Now())
    # Its UTC day, for the index: further reads on that day do not update the index.
    read_on = models.DateField(db_default=Now())

    class Meta:
        permissions = [("use_timeline_store", "Can use the timeline store by the API")]
        constraints = [
            # Not `unique` on the field, which would add a second index, for LIKE.
            models.UniqueConstraint(fields=["name"], name="timeline_name"),
            models.CheckConstraint(condition=Q(size__gte=0), name="timeline_size"),
        ]
        indexes = [
            # "which were not read for that long?", piece by piece.
            models.Index(fields=["read_on", "id"], name="timeline_read", condition=Q(live=True)),
        ]

    def __str__(self) -> str:
        return self.name


class TimelineEntry(models.Model):
    """An entry, live or dead. `seq` is that of the write that inserted it; within one write the
    lower id came first."""

    pk = models.CompositePrimaryKey("timeline_id", "entry_id")
    # No foreign key in the database, which would look up the timeline for each row: every writer
    # has locked the timeline anyway.
    timeline = models.ForeignKey(
        Timeline, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    entry_id = models.BigIntegerField()
    seq = models.BigIntegerField()

    secondary = models.BigIntegerField(null=True)
    dead_at = models.DateTimeField(
        null=True, help_text="When it was deleted, or when its timeline expired if that was later."
    )
    # Null if empty, which takes no space.
    metadata = models.BinaryField(null=True)

    class Meta:
        indexes = [
            # "what came after this one?"
            models.Index(fields=["timeline", "seq"], name="timelineentry_seq"),
            # "which tombstones are old enough to delete?" Live entries are not in it.
            models.Index(
                fields=["dead_at"], name="timelineentry_dead", condition=Q(dead_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry_id} in timeline {self.timeline_id}"


class Watcher(models.Model):
    """The owner of a home: a person, or a team, which is one of Django's groups."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True
    )
    team = models.OneToOneField(Group, on_delete=models.CASCADE, null=True, blank=True)
    # When the home was last read, to the hour.
    read_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, team__isnull=False) | Q(user__isnull=False, team=None),
                name="watcher_is_a_user_or_a_team",
            )
        ]
        indexes = [
            # "whose home was not read for that long?"
            models.Index(fields=["read_at"], name="watcher_read"),
        ]

    def __str__(self) -> str:
        return str(self.user or self.team)


class Follow(models.Model):
    """A watcher follows an origin, which is a source or an account."""

    pk = models.CompositePrimaryKey("watcher_id", "origin_id")
    watcher = models.ForeignKey(
        Watcher, on_delete=models.CASCADE, related_name="follows", db_index=False
    )
    origin_id = models.BigIntegerField()
    followed_at = models.DateTimeField()

    class Meta:
        indexes = [
            # "who follows it?"
            models.Index(fields=["origin_id", "watcher_id"], name="follow_of_origin"),
        ]

    def __str__(self) -> str:
        return f"{self.watcher_id} follows {self.origin_id}"

    @property
    def source_id(self) -> int | None:
        return self.origin_id if self.origin_id > 0 else None

    @property
    def author_id(self) -> int | None:
        return -self.origin_id if self.origin_id < 0 else None
