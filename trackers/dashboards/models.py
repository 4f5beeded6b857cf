"""A person's columns, and when they were here."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from trackers.ingest.sources.models import Source
from trackers.saved_views.models import SavedView


class Column(models.Model):
    """Shows a source, a saved view, the home of a team or, with none, the person's own home."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="columns", db_index=False
    )
    position = models.IntegerField()
    source = models.ForeignKey(Source, on_delete=models.CASCADE, null=True, related_name="+")
    team = models.ForeignKey(Group, on_delete=models.CASCADE, null=True, related_name="+")
    # It may be gone: the column says so, and shows it again once that is undone.
    view = models.ForeignKey(
        SavedView,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        null=True,
        related_name="+",
    )

    class Meta:
        ordering = ("position", "id")
        constraints = [
            models.CheckConstraint(
                condition=Q(source=None, team=None)
                | Q(source=None, view=None)
                | Q(team=None, view=None),
                name="column_shows",
            ),
            # The same column twice is a mistake.
            models.UniqueConstraint(
                fields=["user", "source", "team", "view"], nulls_distinct=False, name="column_once"
            ),
        ]

    def __str__(self) -> str:
        if self.view_id is None:
            return str(self.source or self.team or "Home")
        view = SavedView.objects.filter(pk=self.view_id).first()
        return view.name if view else "A view that was removed"


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
