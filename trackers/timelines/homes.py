"""Homes that are built, how far deliveries have come, and the settings for all this.

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
    """How far the arrivals of an origin are delivered. Not in the origin's own row: storing
    arrivals locks that, and so never waits for a delivery."""

    origin_id = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(default=0)
    # Watchers with greater ids get no deliveries: they get this origin on read (`fanout_limit`).
    reach = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.origin_id} delivered up to {self.number}"


class Feed(models.Model):
    """A watcher's home, built by a strategy.

    It has every tweet of the home from `floor` on; it may have others too, so its tweets are
    checked before they are shown. `built_at` null: it is being built and cannot be read yet, but
    deliveries already go into it. `shape`: the size of its buckets; if the settings have another,
    it is rebuilt.
    """

    pk = models.CompositePrimaryKey("watcher_id", "strategy")
    # No index of its own, here and below: the primary key begins with it.
    watcher = models.ForeignKey(
        Watcher, on_delete=models.CASCADE, related_name="feeds", db_index=False
    )
    strategy = models.CharField(max_length=10)
    shape = models.IntegerField(default=0)
    floor = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0, help_text="Tweets put into its buckets.")
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
    """A home to be built; its key is the watcher's."""

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
    """How homes are built: one row."""

    class Strategy(models.TextChoices):
        READ = "read", "on read: nothing is stored"
        TIMED = "timed", "timed buckets: one row per day"
        SIZED = "sized", "sized buckets: a fixed number of tweets per row"
        CACHE = "cache", "capped cache: only the newest tweets"

    class Embed(models.TextChoices):
        TEXT = "text", "the text"
        AUTHOR = "author", "the author's name"

    strategy = models.CharField(
        max_length=10,
        choices=Strategy,
        default=Strategy.READ,
        help_text="Start with “on read”: it stores nothing, is always right, and is fast for "
        "watchers with up to a few thousand follows. Choose the capped cache if homes "
        "are viewed all the time or watchers follow very many sources; sized buckets, "
        "the most compact, if people scroll far back; timed buckets if people look up "
        "particular days. After a change, homes are answered on read until they are "
        "rebuilt.",
    )
    cache_size = models.PositiveIntegerField(
        "tweets in a cache",
        default=800,
        validators=[MinValueValidator(50), MaxValueValidator(100_000)],
        help_text="Older tweets are read from the sources. Twitter kept 800.",
    )
    cache_slack = models.PositiveIntegerField(
        "cache slack",
        default=50,
        validators=[MinValueValidator(0), MaxValueValidator(100_000)],
        help_text="A cache grows by this many tweets before it is trimmed: trimming at every write "
        "costs more.",
    )
    bucket_days = models.PositiveSmallIntegerField(
        "days per timed bucket",
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(366)],
        help_text="Above about 200 tweets per bucket, writes become expensive: PostgreSQL then "
        "rewrites a large value for each tweet.",
    )
    bucket_size = models.PositiveSmallIntegerField(
        "tweets per sized bucket",
        default=50,
        validators=[MinValueValidator(10), MaxValueValidator(1000)],
        help_text="About one page of a home. Above 200, writes become expensive, as above.",
    )
    depth = models.PositiveIntegerField(
        "depth of buckets",
        default=10_000,
        validators=[MinValueValidator(100), MaxValueValidator(1_000_000)],
        help_text="This many tweets are put into buckets when a home is built; older ones are read "
        "from the sources.",
    )
    follow_backfill = models.PositiveIntegerField(
        "follow backfill",
        default=200,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text="This many tweets of a newly followed source are put into the home at once; "
        "older ones are read from the sources.",
    )
    fanout_limit = models.PositiveIntegerField(
        "fan-out limit",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Deliver a source to this many watchers, the earliest first; the others read "
        "it with each page. Leave empty for all. Set it if a source has so many "
        "followers that its deliveries take too long.",
    )
    async_threshold = models.PositiveIntegerField(
        "asynchronous threshold",
        default=200,
        help_text="A source with up to this many followers is delivered by the worker that found "
        "the tweet, one with more by any worker. 0: always by any worker.",
    )
    idle_days = models.PositiveSmallIntegerField(
        "idle days",
        default=21,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
        help_text="A home that has not been viewed for this many days is dropped. When its watcher "
        "returns, it is answered on read and rebuilt.",
    )

    embed = ArrayField(
        models.CharField(max_length=10, choices=Embed),
        verbose_name="embedded",
        default=list,
        blank=True,
        help_text="What a home stores as it was first seen. Leave this empty unless homes serve "
        "as an archive: a page then looks everything up, which costs nothing "
        "noticeable (0.10 ms for 50 tweets, 0.12 ms embedded) and shows edits and new "
        "names. Embedded text stays as first seen, and is marked where it differs from "
        "the current one. Deleted tweets disappear either way. Works with the capped "
        "cache only: in buckets, each new tweet would rewrite the text of all the "
        "others (14 times slower when measured).",
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
            wrong["cache_slack"] = "The slack cannot be larger than the cache."
        if self.embed and self.strategy != self.Strategy.CACHE:
            wrong["embed"] = "Only the capped cache can embed. Choose it, or leave this empty."
        if wrong:
            raise ValidationError(wrong)

    def shape(self, strategy: str) -> int:
        """The size of this strategy's buckets."""
        return {"timed": self.bucket_days, "sized": self.bucket_size}.get(strategy, 0)
