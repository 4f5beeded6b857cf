"""Lists of the sets of one kind in a fixed period, made every hour.

rollups ─> `count_sets` ─> the highest by each figure ─> `Leaderboard`, every hour ─> page, API
                       └─ other days, if they have few posts ─────────────────────────^
"""

from __future__ import annotations

from django.db import models

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
