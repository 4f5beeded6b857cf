"""Metric values that cause an event when a tweet reaches them, and which tweets have.

Milestone ─ a measurement from below it to it or above ─> Crossing, and an event of `milestones`
"""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, F, Q, When

from trackers.xapi.results import Figures


class Milestone(models.Model):
    """A value of one metric, for all tweets."""

    metric = models.CharField(
        max_length=11,
        choices=[(name, name) for name in Figures._fields],
        help_text="Applies to every tracked tweet. What a tweet already had when first measured "
        "does not count.",
    )
    at = models.BigIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(10**18)],
        help_text="A tweet whose figure rises to this or more triggers one milestone event. It can "
        "trigger another only after falling below 90% of this, so a figure that wavers "
        "around it triggers no more.",
    )
    # 90% of it, rounded up: a tweet that falls below this has to reach the milestone again.
    low = models.GeneratedField(
        expression=F("at") - F("at") / 10, output_field=models.BigIntegerField(), db_persist=True
    )
    # The place of the metric among those of an event, from 1.
    nth = models.GeneratedField(
        expression=Case(
            *(When(metric=name, then=nth) for nth, name in enumerate(Figures._fields, 1))
        ),
        output_field=models.SmallIntegerField(),
        db_persist=True,
    )

    class Meta:
        ordering = ["metric", "at"]
        constraints = [
            models.UniqueConstraint(fields=["metric", "at"], name="milestone_once"),
            models.CheckConstraint(condition=Q(at__gte=1), name="milestone_is_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.at:,} {self.metric}"


class Crossing(models.Model):
    """A tweet has reached a milestone, and has not fallen below 90% of it since.

    While the row exists, reaching it again causes no event.
    """

    pk = models.CompositePrimaryKey("tweet_id", "metric", "at")
    tweet_id = models.BigIntegerField()
    metric = models.CharField(max_length=11)
    at = models.BigIntegerField()
    figure = models.BigIntegerField()
    # That of its event.
    t = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.tweet_id}: {self.at:,} {self.metric}"
