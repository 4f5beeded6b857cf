"""How often a tweet of a given age is looked up: rows that a person edits in the admin."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from trackers.schedule.durations import spell, spell_share


class Interval(models.Model):
    """Tweets younger than `younger_than`, and no younger row's, are looked up every `every`.

    With an accuracy it adapts instead: a tweet is looked up as soon as its metrics are expected to
    have changed by that share, at most every `at_most` and at least every `at_least`.
    """

    younger_than = models.DurationField(
        unique=True, help_text="Applies to tweets younger than this."
    )
    every = models.DurationField(help_text="Time from one look-up to the next.")
    jitter = models.FloatField(
        default=0.05,
        help_text="A look-up is up to this share of the interval earlier or later, at random (0 to "
        "0.5), so that tweets that arrived together spread out.",
    )
    enabled = models.BooleanField(default=True, help_text="A disabled row is ignored.")
    accuracy = models.FloatField(
        null=True,
        blank=True,
        help_text="The change in a tweet's figures that may be missed between two look-ups, 0.05 "
        "for 5%. Leave empty for a fixed interval.",
    )
    at_most = models.DurationField(
        "at most every",
        null=True,
        blank=True,
        help_text="The shortest interval, however fast a tweet grows.",
    )
    at_least = models.DurationField(
        "at least every",
        null=True,
        blank=True,
        help_text="The longest interval, however quiet a tweet is.",
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
            models.CheckConstraint(
                condition=Q(accuracy=None, at_most=None, at_least=None)
                | Q(
                    accuracy__gte=0.001,
                    accuracy__lte=0.5,
                    at_most__gte=timedelta(seconds=1),
                    at_least__gte=F("at_most"),
                    at_least__lte=F("younger_than"),
                ),
                name="interval_adapts",
            ),
        ]

    def __str__(self) -> str:
        return f"younger than {self.younger_than}: every {self.every}"

    @property
    def written(self) -> str:
        """In the form that `interval set` reads."""
        if self.accuracy is None or self.at_most is None or self.at_least is None:
            return f"{spell(self.younger_than)}={spell(self.every)}"
        between = f"{spell(self.at_most)}..{spell(self.at_least)}"
        return f"{spell(self.younger_than)}={between}@{spell_share(self.accuracy)}"

    @property
    def words(self) -> str:
        age = f"younger than {spell(self.younger_than)}"
        if self.accuracy is None or self.at_most is None or self.at_least is None:
            return f"{age}: every {spell(self.every)}"
        return (
            f"{age}: {spell_share(self.accuracy)} may be missed, at most every "
            f"{spell(self.at_most)}, at least every {spell(self.at_least)}"
        )


class Stretch(models.Model):
    """How much longer adapting intervals are now, in one row; see `schedule.stretch.update`."""

    ONLY = 1

    windows = models.FloatField(
        db_default=1.0, help_text="1: X's rate limits leave room for all look-ups."
    )
    taken_at = models.DateTimeField(null=True)
    demand = models.FloatField(null=True, help_text="Look-ups a second without stretching.")
    room = models.FloatField(null=True, help_text="Look-ups a second that X's rate limits allow.")
    backlog = models.PositiveBigIntegerField(default=0)

    money = models.FloatField(
        db_default=1.0, help_text="Of waits that end on another UTC day. 1: there is money for all."
    )
    days_demand = models.FloatField(null=True, help_text="Tweet-days a day with `money` 1.")
    days_room = models.FloatField(
        null=True, help_text="Tweet-days a day that the budgets allow; null: no limit."
    )
    budget = models.CharField(
        max_length=200, db_default="", help_text="The budgets that set this limit, in words."
    )

    def __str__(self) -> str:
        return f"{self.windows:.2f} times, across days {self.money:.2f} times"


class Replanning(models.Model):
    """The progress of the re-planning, in one row.

    asked for ─> a task plans pieces for a few seconds ─> hands over to the next ─> finished
    """

    # Counts tasks and fences them: one of an earlier turn, or one that runs twice, does nothing.
    turn = models.PositiveBigIntegerField(default=0)
    # The intervals that it plans by; when they change, it starts over.
    plan = models.TextField(blank=True)
    begun_at = models.DateTimeField(null=True)
    touched_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    # Tweets with ids below this are still to be planned.
    below = models.BigIntegerField(default=0)
    tweets = models.PositiveBigIntegerField(default=0, help_text="Estimated number of tweets.")
    seen = models.PositiveBigIntegerField(default=0)
    moved = models.PositiveBigIntegerField(default=0)
    woken = models.PositiveBigIntegerField(default=0)
    overdue = models.PositiveBigIntegerField(
        default=0, help_text="Tweets that were already due; they are spread out from the start."
    )

    def __str__(self) -> str:
        return f"re-planned {self.seen} tweets"


class TweetCensus(models.Model):
    """The tweets as a cluster last counted them, in one row; see `schedule.census`."""

    ONLY = 1

    taken_at = models.DateTimeField(null=True)
    took = models.DurationField(default=timedelta(0), help_text="0: no full count was needed.")
    tracked = models.IntegerField(default=0)
    gone = models.IntegerField(default=0)
    paused = models.IntegerField(default=0)
    unreadable = models.IntegerField(db_default=0)
    demand = models.FloatField(null=True)
    tiers = ArrayField(models.BigIntegerField(), null=True)
    is_counted = models.BooleanField(default=True)
    ages = models.JSONField(null=True, help_text="Tweets by age, for the cost of intervals.")

    def __str__(self) -> str:
        return f"{self.tracked} tweets"


class BulkAct(models.Model):
    """An act on many tweets: they are chosen once, then processed piece by piece by tasks."""

    class Act(models.TextChoices):
        CHECK = "check", "check now"
        PAUSE = "pause", "pause"
        RESUME = "resume", "resume"
        UNTRACK = "untrack", "untrack"
        TAG = "tag", "tag"
        UNTAG = "untag", "remove the tag from"

    act = models.CharField(max_length=8, choices=Act)
    by = models.CharField(max_length=150, blank=True)
    source = models.BigIntegerField(
        null=True,
        help_text="The source that is removed together with tweets that came from nowhere else.",
    )
    tag = models.BigIntegerField(null=True, help_text="That is put on the tweets, or removed.")
    # How many were chosen; how many of them were processed; for how many of those there was
    # something to do.
    tweets = models.PositiveBigIntegerField(default=0)
    seen = models.PositiveBigIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)

    # Fences the tasks, as in `Replanning`.
    turn = models.PositiveBigIntegerField(default=0)
    begun_at = models.DateTimeField()
    touched_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    was_stopped = models.BooleanField(default=False)

    class Meta:
        verbose_name = "change to many tweets"
        verbose_name_plural = "changes to many tweets"
        ordering = ["-pk"]
        constraints = [
            # Pressing the button twice removes a source only once.
            models.UniqueConstraint(
                fields=["source"], condition=Q(finished_at=None), name="bulkact_of_source_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_act_display()} {self.tweets:,} tweets"

    @property
    def percent(self) -> int:
        if self.finished_at and not self.was_stopped:
            return 100
        return min(99, 100 * self.seen // max(self.tweets, 1))


class BulkPiece(models.Model):
    """Tweets that an act has still to process; the transaction that does so deletes the row."""

    act = models.ForeignKey(BulkAct, on_delete=models.CASCADE, related_name="pieces")
    ids = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.ids)} tweets of act {self.act_id}"


class StretchMinute(models.Model):
    """The largest stretches computed in a minute."""

    minute = models.DateTimeField(primary_key=True)
    windows = models.FloatField()
    money = models.FloatField()

    def __str__(self) -> str:
        return f"{self.minute:%Y-%m-%d %H:%M}"
