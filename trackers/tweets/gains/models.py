"""What grows fastest: for each window and metric the tweets that gained most, ready to be sorted.

record ─> `Changed` (which tweets may be in a list) ─> update, every minute ─> `Gain`
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from trackers.tweets.models import METRICS, Tweet

if TYPE_CHECKING:
    from typing import Self

By = Literal["gain", "velocity"]


class Window(models.IntegerChoices):
    """How far back a gain is measured, in minutes."""

    QUARTER = 15, "15 minutes"
    HOUR = 60, "hour"
    DAY = 1440, "24 hours"

    @property
    def length(self) -> timedelta:
        return timedelta(minutes=self)


# From so long a stretch on, a gain is said per hour; two measurements a minute apart prove nothing.
RATE_FROM = timedelta(minutes=5)

# Instead of a window: the whole life of a tweet, in which it gained all that it has.
EVER = 0


def may_be_listed(tweet: str, *, at: str, values: Sequence[str]) -> str:
    """In SQL: whether the row `tweet`, measured at that time with those values (in the order of
    METRICS), may be in a list in which it is not: one of them is as high as its last ranking named,
    or it was never ranked, or not for long."""
    reached = (
        f"{value} >= {tweet}.ranked_at_{metric}"
        for metric, value in zip(METRICS, values, strict=True)
    )
    return f"(({at} < {tweet}.ranked_again_at) IS NOT TRUE OR {' OR '.join(reached)})"


class Changed(models.Model):
    """Tweets that one statement of `record` changed and that may be in a list now. Taken and
    deleted by `update_gains`.

    Not in the WAL (unlogged): after a crash a list lacks them until they change again.
    """

    at = models.DateTimeField(db_default=Now())
    ids = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.ids)} tweets at {self.at:%H:%M:%S}"


class GainQuerySet(models.QuerySet["Gain"]):
    def fastest(self, window: Window, metric: str, *, by: By = "velocity") -> Self:
        """The rows of a window and metric, highest first; read from an index in this order.

        With their tweets, authors and texts. Tweets that are gone are left out.
        """
        return (
            self.filter(minutes=window, metric=metric, tweet__gone_at=None)
            .select_related("tweet__author", "tweet__tweettext")
            .order_by(f"-{by}", "-tweet_id")
        )

    def highest(self, metric: str) -> Self:
        """The tweets with the highest value of the metric, as of three minutes ago at most."""
        return self.filter(minutes=EVER, metric=metric, tweet__gone_at=None).order_by(
            "-gain", "-tweet_id"
        )


class Gain(models.Model):
    """A tweet gained `gain` in one metric between two measurements, `since` and `until`.

    - `since` is the earliest time in the window for which the value is known: the window's
      beginning if the same value was measured before and after it, otherwise the first measurement
      in the window. So the stretch is at most the window, and shorter where nothing was measured:
      "+115 in the last 58 min". Nothing is interpolated. With one measurement in the window there
      is no gain.
    - The window ends now, not at the last measurement. A row is recomputed every minute, those of
      an hour every 3 minutes, those of 24 hours every 15, until nothing is left of its gain. So a
      tweet that stands still sinks, and leaves within the window's length.
    - `velocity` is the gain per hour of that stretch, or of RATE_FROM if the stretch is shorter.
    - With EVER as the window, the gain is the metric's value itself, since the tweet was posted. It
      is recomputed every 3 minutes.
    - Only rises are stored. Each window and metric keeps the MAX_LIST_LENGTH tweets that gained
      most, and as many with the highest velocity, however many tweets there are; EVER by gain only.
    """

    pk = models.CompositePrimaryKey("tweet_id", "minutes", "metric")
    # Tweets are deleted without checking this table; `update` removes the rows they leave.
    tweet = models.ForeignKey(
        Tweet, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    minutes = models.SmallIntegerField(choices=Window)
    metric = models.CharField(max_length=11, choices=[(metric, metric) for metric in METRICS])
    gain = models.BigIntegerField()
    velocity = models.FloatField()
    since = models.DateTimeField()
    until = models.DateTimeField()
    # The row is not recomputed before this.
    again_at = models.DateTimeField()

    objects = GainQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["minutes", "metric", "-gain", "-tweet"], name="gain_gain"),
            models.Index(fields=["minutes", "metric", "-velocity", "-tweet"], name="gain_velocity"),
        ]

    def __str__(self) -> str:
        return f"{self.tweet_id}: {self.gain:+,} {self.metric} in {self.lasted}"

    @property
    def lasted(self) -> timedelta:
        """The time between the two measurements."""
        return self.until - self.since

    @property
    def rate(self) -> float | None:
        """The gain per hour, where it was measured for long enough to say one."""
        return self.velocity if self.lasted >= RATE_FROM else None

    @property
    def is_extrapolated(self) -> bool:
        """Whether the rate is of less than an hour."""
        return self.lasted < Window.HOUR.length


class GainPlaces(models.Model):
    """The top of one list, by gain, at two moments some minutes apart (`gains.places`)."""

    minutes = models.SmallIntegerField(choices=Window)
    metric = models.CharField(max_length=11)
    at = models.DateTimeField()
    ids = ArrayField(models.BigIntegerField())
    before_at = models.DateTimeField(null=True)
    before = ArrayField(models.BigIntegerField(), db_default=[])

    class Meta:
        constraints = [models.UniqueConstraint(fields=["minutes", "metric"], name="gain_places")]

    def __str__(self) -> str:
        return f"{self.metric} in {self.minutes} min at {self.at:%H:%M}"


class GainHead(models.Model):
    """The first of one list by velocity, at a moment of the last day (`gains.heads`)."""

    minutes = models.SmallIntegerField(choices=Window)
    metric = models.CharField(max_length=11)
    at = models.DateTimeField()
    # The fastest first; both of one length.
    ids = ArrayField(models.BigIntegerField())
    velocities = ArrayField(models.FloatField())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["minutes", "metric", "at"], name="gain_head")
        ]

    def __str__(self) -> str:
        return f"{self.metric} in {self.minutes} min at {self.at:%H:%M}"
