"""How often a tweet of a given age is looked up: rows that a person edits in the admin."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Q


class Interval(models.Model):
    """Tweets younger than `younger_than`, and no younger row's, are looked up every `every`."""

    younger_than = models.DurationField(unique=True, help_text="Age of a tweet, exclusive.")
    every = models.DurationField(help_text="Time from one look-up to the next.")
    jitter = models.FloatField(
        default=0.05,
        help_text="Share of `every` by which a look-up may come sooner or later, 0 to 0.5; "
        "it keeps tweets that arrived together from staying in step.",
    )
    enabled = models.BooleanField(
        default=True, help_text="A disabled row is as if it were not there."
    )

    class Meta:
        ordering = ["younger_than"]
        constraints = [
            models.CheckConstraint(
                condition=Q(younger_than__gt=timedelta(0)), name="interval_younger_than_positive"
            ),
            models.CheckConstraint(
                condition=Q(every__gte=timedelta(seconds=1)),
                name="interval_every_at_least_a_second",
            ),
            models.CheckConstraint(
                condition=Q(every__lte=timedelta(days=365)), name="interval_every_at_most_a_year"
            ),
            models.CheckConstraint(
                condition=Q(jitter__gte=0, jitter__lte=0.5), name="interval_jitter_share"
            ),
        ]

    def __str__(self) -> str:
        return f"younger than {self.younger_than}: every {self.every}"
