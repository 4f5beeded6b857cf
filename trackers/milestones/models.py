"""Metric values that cause an event when a tweet reaches them, and which tweets have.

Milestone ─ a measurement from below it to it or above ─> Crossing, and an event of `milestones`
One that only rules of a person's own ask for causes no event, but a happening of its own kind.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, F, Q, When

from trackers.xapi.results import Figures

if TYPE_CHECKING:
    from typing import Self


class MilestoneQuerySet(models.QuerySet["Milestone"]):
    def shared(self) -> Self:
        """Without those that only rules of a person's own ask for: these mark no chart."""
        return self.filter(is_own=False)


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

    # Only rules of a person's own ask for it. The same figure may be there for everybody, too.
    is_own = models.BooleanField(default=False, db_default=False, editable=False)

    objects = MilestoneQuerySet.as_manager()

    class Meta:
        ordering = ["metric", "at"]
        constraints = [
            models.UniqueConstraint(
                fields=["metric", "at", "is_own"],
                name="milestone_once_each",
                violation_error_message="This milestone already exists.",
            ),
            models.CheckConstraint(condition=Q(at__gte=1), name="milestone_is_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.at:,} {self.metric}"

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Forms leave out whose it is, which the constraint is about, too."""
        super().validate_constraints(exclude=set(exclude or ()) - {"is_own"})


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
