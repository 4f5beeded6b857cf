"""Homes that are laid out, how far deliveries have come, and the settings for all this.

Feed: a home laid out by one strategy, complete down to its floor ─> buckets, or a timeline
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from trackers.jobs.models import Bucket, Job
from trackers.timelines.models import Watcher


class FeedMark(models.Model):
    """How far the arrivals of an origin are delivered. Not in the origin's own row, which storing
    arrivals locks: so that never waits for a delivery."""

    origin_id = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(default=0)
    # Watchers with greater ids get no deliveries, but this origin on read (`fanout_limit`).
    reach = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.origin_id} delivered up to {self.number}"


class Feed(models.Model):
    """A watcher's home, laid out by a strategy.

    It has every tweet of the home from `floor` on; it may have others too, so its tweets are
    checked before they are shown. `built_at` null: it is being built and cannot be read yet, but
    deliveries already go into it. `shape`: the size of its buckets; if the settings have another,
    it is built anew.
    """

    pk = models.CompositePrimaryKey("watcher_id", "strategy")
    # No index of its own, here and below: the primary key begins with it.
    watcher = models.ForeignKey(
        Watcher, on_delete=models.CASCADE, related_name="feeds", db_index=False
    )
    strategy = models.CharField(max_length=10)
    shape = models.IntegerField(default=0)
    floor = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0, help_text="Tweets that were put into its buckets.")
    built_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["strategy"], name="feed_of_strategy")]

    def __str__(self) -> str:
        return f"{self.strategy} of {self.watcher_id}"


class TimedBucket(models.Model):
    """The tweets of a home that were posted in one span of days, newest first."""

    pk = models.CompositePrimaryKey("watcher_id", "bucket")
    watcher = models.ForeignKey(Watcher, on_delete=models.CASCADE, related_name="+", db_index=False)
    bucket = models.IntegerField()
    ids = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{self.watcher_id}, bucket {self.bucket}"


class SizedBucket(models.Model):
    """Tweets of a home in the order in which they came, a fixed number per bucket."""

    pk = models.CompositePrimaryKey("watcher_id", "n")
    watcher = models.ForeignKey(Watcher, on_delete=models.CASCADE, related_name="+", db_index=False)
    n = models.IntegerField()
    ids = ArrayField(models.BigIntegerField())
    min_id = models.BigIntegerField()
    max_id = models.BigIntegerField()

    class Meta:
        indexes = [
            # Newest first, and "which of them may hold this tweet?"
            models.Index(fields=["watcher", "max_id", "n"], name="sizedbucket_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.watcher_id}, bucket {self.n}"


class RebuildBucket(Bucket):
    """Rebuilds that are due together."""


class FeedRebuild(Job):
    """A home to be laid out; its key is the watcher's."""

    namespace = "timeline:rebuild"
    bucket = RebuildBucket
    most_keys = 1

    def __str__(self) -> str:
        return f"rebuild for watcher {self.key}"


class FeedReads(models.Model):
    """Pages of homes read on one UTC day, by where they came from (`Page.served_by`)."""

    pk = models.CompositePrimaryKey("day", "served_by")
    day = models.DateField()
    served_by = models.CharField(max_length=30)
    pages = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.pages} from {self.served_by} on {self.day}"


class FeedSettings(models.Model):
    """How homes are laid out: one row."""

    class Strategy(models.TextChoices):
        READ = "read", "on read: nothing is kept"
        TIMED = "timed", "timed buckets: a row a day"
        SIZED = "sized", "sized buckets: so many tweets a row"
        CACHE = "cache", "capped cache: the newest tweets"

    class Embed(models.TextChoices):
        TEXT = "text", "the text"
        AUTHOR = "author", "the author's name"

    strategy = models.CharField(
        max_length=10,
        choices=Strategy,
        default=Strategy.READ,
        help_text="On read is always right, costs nothing to keep, and is quick up to some "
        "thousand follows a watcher: begin with it. Capped cache: where homes are looked at all "
        "the time, or watchers follow many sources. Sized buckets: where people scroll far back, "
        "since they are the most compact. Timed buckets: where people ask what happened on a day. "
        "After a change homes are answered on read until they are laid out anew.",
    )
    cache_size = models.PositiveIntegerField(
        "tweets in a cache",
        default=800,
        validators=[MinValueValidator(50), MaxValueValidator(100_000)],
        help_text="What is older is read from the sources. Twitter kept 800.",
    )
    cache_slack = models.PositiveIntegerField(
        "slack of a cache",
        default=50,
        validators=[MinValueValidator(0), MaxValueValidator(100_000)],
        help_text="A cache grows by so many before it is cut back: cutting each time costs more.",
    )
    bucket_days = models.PositiveSmallIntegerField(
        "days in a timed bucket",
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(366)],
        help_text="More than some 200 tweets a bucket make writing dear: PostgreSQL then rewrites "
        "a large value with each tweet.",
    )
    bucket_size = models.PositiveSmallIntegerField(
        "tweets in a sized bucket",
        default=50,
        validators=[MinValueValidator(10), MaxValueValidator(1000)],
        help_text="About a page of a home. Above 200 writing gets dear, as above.",
    )
    depth = models.PositiveIntegerField(
        "depth of buckets",
        default=10_000,
        validators=[MinValueValidator(100), MaxValueValidator(1_000_000)],
        help_text="So many tweets are put into buckets when a home is laid out; what is older is "
        "read from the sources.",
    )
    follow_backfill = models.PositiveIntegerField(
        "backfill of a follow",
        default=200,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text="So many tweets of what is newly followed are put into a home at once. If it has "
        "more, the home is read from the sources below them.",
    )
    fanout_limit = models.PositiveIntegerField(
        "fan-out limit",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="So many watchers of one source are delivered to, those that came first; the "
        "others read it with each page. Empty: all of them. Set it if one source has so many "
        "followers that its deliveries take too long.",
    )
    async_threshold = models.PositiveIntegerField(
        "asynchronous threshold",
        default=200,
        help_text="What has no more followers is delivered by the worker that brought it; what has "
        "more, by any. 0: always by any.",
    )
    idle_days = models.PositiveSmallIntegerField(
        "idle days",
        default=21,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text="The home of who has not looked for so long is not kept; it is answered on read "
        "when they come back, and laid out again.",
    )

    embed = ArrayField(
        models.CharField(max_length=10, choices=Embed),
        verbose_name="embedded",
        default=list,
        blank=True,
        help_text="What a home keeps as it was first seen. Leave it empty, unless the home is an "
        "archive: then a page looks everything up, which costs nothing that you would notice "
        "(0.10 ms for 50 tweets, 0.12 ms embedded), and shows edits and new names. Embedded, a "
        "text stays as it was before it was edited, and is marked where it differs from today's. "
        "Deleted tweets disappear either way. It works with the capped cache alone: in buckets "
        "each new tweet would rewrite the texts of all others, 14 times slower in our measurement.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "feed settings"
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="feedsettings_one_row"),
            models.CheckConstraint(
                condition=Q(strategy__in=["read", "timed", "sized", "cache"]),
                name="feedsettings_strategy",
            ),
            models.CheckConstraint(
                condition=Q(cache_size__gte=50, bucket_days__gte=1, bucket_size__gte=10)
                & Q(depth__gte=100, follow_backfill__gte=1, idle_days__gte=1)
                & (Q(fanout_limit=None) | Q(fanout_limit__gte=1)),
                name="feedsettings_sizes",
            ),
            models.CheckConstraint(
                condition=Q(cache_slack__lte=F("cache_size")), name="feedsettings_slack"
            ),
            models.CheckConstraint(
                condition=Q(embed=[]) | Q(strategy="cache", embed__contained_by=["text", "author"]),
                name="feedsettings_embed",
            ),
        ]

    def __str__(self) -> str:
        return self.get_strategy_display()

    def clean(self) -> None:
        wrong = {}
        if None not in (self.cache_slack, self.cache_size) and self.cache_slack > self.cache_size:
            wrong["cache_slack"] = "The slack is no more than the cache."
        if self.embed and self.strategy != self.Strategy.CACHE:
            wrong["embed"] = "Only the capped cache can embed. Choose it, or leave this empty."
        if wrong:
            raise ValidationError(wrong)

    def shape(self, strategy: str) -> int:
        """The size of this strategy's buckets."""
        return {"timed": self.bucket_days, "sized": self.bucket_size}.get(strategy, 0)
