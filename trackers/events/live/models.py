"""What the live feed holds, and who reads it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class LiveEvents(models.Model):
    """Events that were spread together, in topics that somebody watches; written once.

    A row without events is a mark: these topics are recorded from `spread_at` on, and nothing is
    known about the time before.
    """

    # In the live feed. Places are committed in order, under the lock of the spread, so a reader
    # behind a place misses nothing.
    place = models.BigIntegerField(primary_key=True)
    spread_at = models.DateTimeField()
    # When the oldest and the newest of the events were received, which gives their partitions.
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    # Parallel to `events`.
    topics = ArrayField(models.BigIntegerField())
    events = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.events)} events at {self.place}"


class StreamPlaces(models.Model):
    """A web process: its places for live streams, and how many of them are taken."""

    host = models.CharField(max_length=255)
    pid = models.IntegerField()
    open = models.IntegerField()
    places = models.IntegerField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "pid"], name="streamplaces_process")]

    def __str__(self) -> str:
        return f"{self.open} of {self.places} places on {self.host}, pid {self.pid}"
