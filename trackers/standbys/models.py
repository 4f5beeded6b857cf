"""The row by which it shows how far a standby is behind."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class PrimaryBeat(models.Model):
    """Written on the primary each second while a cluster runs; one row, and none before."""

    ONLY = 1

    id = models.SmallIntegerField(primary_key=True, default=ONLY)
    at = models.DateTimeField()
    # Of the primary's log: another one after each promotion of a standby.
    timeline = models.IntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="primarybeat_is_one"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%F %T}"
