"""Lists of the sets of one kind in a period: what is kept of them.

rollups ─> `count_sets`, of all tweets ──────────────┬─ a fixed period ─> `Leaderboard`, every hour
members ─> `count_within`, of those of another set ──┼─ few posts ─> at once
                                                     └─ many ─ by a worker ─> `LargeLeaderboard`
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from trackers.rollups.models import RollupKind


class Leaderboard(models.Model):
    """The sets of one kind that are highest by any figure, of the hours until `until`."""

    pk = models.CompositePrimaryKey("kind", "hours")
    kind = models.SmallIntegerField(choices=RollupKind)
    hours = models.IntegerField()
    until = models.DateTimeField()
    rows = models.JSONField()  # of `count.SetRow`

    def __str__(self) -> str:
        return f"{self.get_kind_display()} in {self.hours} hours until {self.until}"


class LargeLeaderboard(models.Model):
    """One of more posts than are counted at once: a worker counts it after
    somebody asked for it."""

    kind = models.SmallIntegerField(choices=RollupKind)
    within = models.CharField(max_length=80, blank=True)  # "source/3"; empty: all tweets
    # "7d", or the first and the last day as they begin: "2026-02-28T23:00Z/2026-03-30T22:00Z"
    period = models.CharField(max_length=60)
    spans = models.JSONField()  # of `count.ComparedSpans`
    posts = models.IntegerField(null=True)  # of both periods; null: they are not found yet
    counted = models.IntegerField(default=0)
    rows = models.JSONField(null=True)  # of `count.SetRow`; null: not counted yet
    problem = models.CharField(max_length=200, blank=True)  # why it ended without
    asked_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "within", "period"], name="largeboard_once")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.within or 'all tweets'}, {self.period}"
