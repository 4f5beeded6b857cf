"""Daily forecasts with the actual numbers: a row a day, and one for each project; and the next
hour by the minute, in one row."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F


class ForecastDay(models.Model):
    """Look-ups and tweet-days of a UTC day."""

    day = models.DateField(primary_key=True)

    # From the first run after its midnight; these never change.
    foreseen_at = models.DateTimeField(null=True)
    known_lookups = models.FloatField(null=True, help_text="Of tweets that were known by then.")
    new_lookups = models.FloatField(null=True, help_text="Of tweets expected to arrive.")
    known_days = models.FloatField(null=True)
    new_days = models.FloatField(null=True)
    newcomers = models.FloatField(null=True, help_text="Expected new tweets.")
    # The factors by which the walk was multiplied, learned from the days before.
    lookups_correction = models.FloatField(default=1.0)
    days_correction = models.FloatField(default=1.0)

    # Recomputed every few minutes, first on the day before.
    expected_at = models.DateTimeField(null=True)
    expected_lookups = models.FloatField(null=True)
    expected_tweet_days = models.FloatField(null=True)
    why = models.TextField(blank=True, help_text="Why nothing is expected, or what is left out.")
    # Made in the first day, of what came until then.
    is_guess = models.BooleanField(default=False, db_default=False)

    # The actual numbers, up to this time.
    counted_at = models.DateTimeField(null=True)
    lookups = models.BigIntegerField(null=True)
    tweet_days = models.BigIntegerField(null=True)
    newcomers_came = models.FloatField(null=True, help_text="Once the day is over.")
    others_came = models.FloatField(
        null=True, help_text="Of files, first polls and backfills, which no forecast expects."
    )

    class Meta:
        ordering = ["-day"]

    def __str__(self) -> str:
        return f"{self.day}"

    @property
    def foreseen_lookups(self) -> float | None:
        if self.known_lookups is None or self.new_lookups is None:
            return None
        return self.known_lookups + self.new_lookups

    @property
    def foreseen_tweet_days(self) -> float | None:
        if self.known_days is None or self.new_days is None:
            return None
        return self.known_days + self.new_days


class ForecastOfProject(models.Model):
    """The tweet-days of one project on one day; as in ForecastDay."""

    pk = models.CompositePrimaryKey("day", "project_id")
    day = models.DateField()
    project = models.ForeignKey("trackers.Project", on_delete=models.CASCADE, related_name="+")
    foreseen = models.FloatField(null=True)
    expected = models.FloatField(null=True)
    unlimited = models.FloatField(
        null=True, help_text="What would be expected if the budgets had room for all."
    )
    tweet_days = models.BigIntegerField(null=True)

    class Meta:
        ordering = [F("day").desc(), "project_id"]

    def __str__(self) -> str:
        return f"project {self.project_id} on {self.day}"


class ForecastHour(models.Model):
    """The checks of the minutes to come, in one row; see `forecasts.hour`."""

    ONLY = 1

    taken_at = models.DateTimeField(null=True)
    took = models.DurationField(default=timedelta(0))
    # By minute, from the one of `taken_at` on: of tweets that are known, and of those that come.
    known = ArrayField(models.FloatField(), default=list)
    new = ArrayField(models.FloatField(), default=list)
    why = models.TextField(blank=True, help_text="Why nothing is expected, or what is left out.")

    def __str__(self) -> str:
        return f"the hour from {self.taken_at}"
