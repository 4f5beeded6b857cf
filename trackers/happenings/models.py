"""What happened to tweets, for thirty days: a row each, in the transaction that causes it.

record, save, learn ─> Happening ─> since a person was here · marks on a curve · would have fired
A kind is a word, so that others than these may write kinds of their own.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from typing import Self


class HappeningKind(models.TextChoices):
    """What each has in its `figures`."""

    MILESTONE = "milestone", "reached a milestone"  # metric, at, value
    # As a milestone, but only rules of a person's own asked for it: no page shows these.
    FIGURE = "figure", "reached a figure"
    GONE = "gone", "deleted or hidden"  # reason, views: the last count, null if unknown
    EDITED = "edited", "edited"  # versions: how many there are
    FELL = "fell", "a metric fell"  # metric, before, after
    SECOND_WAVE = "second_wave", "second wave"  # metric; before and after: gained in an hour


class HappeningQuerySet(models.QuerySet["Happening"]):
    def of_kind_since(self, kind: str, since: datetime) -> Self:
        """The newest first, by the index."""
        return self.filter(what=kind, at__gte=since).order_by("-at")


class Happening(models.Model):
    """Something that happened to a tweet."""

    what = models.CharField(max_length=12)
    tweet_id = models.BigIntegerField()
    # Of the measurement, or of X's answer.
    at = models.DateTimeField()
    figures = models.JSONField()

    objects = HappeningQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index("what", "at", name="happening_by_kind"),
            models.Index("tweet_id", "at", name="happening_by_tweet"),
        ]

    def __str__(self) -> str:
        return f"{self.tweet_id}: {self.what}"
