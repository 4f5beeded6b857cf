"""A person's columns, and when they were here."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from trackers.ingest.sources.models import Source


class Column(models.Model):
    """Shows a source, the home of a team or, with neither, the person's own home."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="columns", db_index=False
    )
    position = models.IntegerField()
    source = models.ForeignKey(Source, on_delete=models.CASCADE, null=True, related_name="+")
    team = models.ForeignKey(Group, on_delete=models.CASCADE, null=True, related_name="+")

    class Meta:
        ordering = ("position", "id")
        constraints = [
            models.CheckConstraint(condition=Q(source=None) | Q(team=None), name="column_shows"),
            # The same column twice is a mistake.
            models.UniqueConstraint(
                fields=["user", "source", "team"], nulls_distinct=False, name="column_once"
            ),
        ]

    def __str__(self) -> str:
        return str(self.source or self.team or "Home")


class OverviewVisit(models.Model):
    """When a person looked at the overview last."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    seen_at = models.DateTimeField()
    # The end of the visit before this one; null during the first.
    away_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.user} at {self.seen_at:%Y-%m-%d %H:%M}"
