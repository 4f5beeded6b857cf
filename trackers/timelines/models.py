"""Rows of timelines, and of who watches what.

Timeline ─ TimelineEntry: the store's, tombstones included.
Follower ─ Follow ─> an origin (trackers.arrivals): a source, or an account by its negated id.
BuiltHome: a home built by one strategy, complete down to its floor ─> buckets, or a timeline.

An entry is absent, live or dead, in this direction only: a dead one is a tombstone, and never comes
back. Every writer first locks the rows of its timelines, in the order of their names; only
the holder of that lock changes the timeline's entries, its `seq` and its `size`.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from trackers.jobs.models import Bucket, Job

MOST_LETTERS = 200


class Timeline(models.Model):
    """One that is not `live` was never set, or has expired; its row exists for its tombstones."""

    # Collation C: the order of code points, in which locks are taken, the same as in Python.
    name = models.CharField(max_length=MOST_LETTERS, db_collation="C")
    live = models.BooleanField(default=False, db_default=False)

    seq = models.BigIntegerField(
        default=0, db_default=0, help_text="Counts the writes that added something."
    )
    size = models.IntegerField(default=0, db_default=0, help_text="Live entries.")

    last_read_at = models.DateTimeField(db_default=Now())
    # Its UTC day, for the index: further reads on that day do not update the index.
    read_on = models.DateField(db_default=Now())

    class Meta:
        permissions = [("use_timeline_store", "Can use the timeline store by the API")]
        constraints = [
            # Not `unique` on the field, which would add a second index, for LIKE.
            models.UniqueConstraint(fields=["name"], name="timeline_name"),
            models.CheckConstraint(condition=Q(size__gte=0), name="timeline_size"),
        ]
        indexes = [
            # "which were not read for that long?", piece by piece.
            models.Index(fields=["read_on", "id"], name="timeline_read", condition=Q(live=True)),
        ]

    def __str__(self) -> str:
        return self.name


class TimelineEntry(models.Model):
    """An entry, live or dead. `seq` is that of the write that inserted it; within one write the
    lower id came first."""

    pk = models.CompositePrimaryKey("timeline_id", "entry_id")
    # No foreign key in the database, which would look up the timeline for each row: every writer
    # has locked the timeline anyway.
    timeline = models.ForeignKey(
        Timeline, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    entry_id = models.BigIntegerField()
    seq = models.BigIntegerField()

    secondary = models.BigIntegerField(null=True)
    dead_at = models.DateTimeField(
        null=True, help_text="When it was deleted, or when its timeline expired if that was later."
    )
    # Null if empty, which takes no space.
    metadata = models.BinaryField(null=True)

    class Meta:
        indexes = [
            # "what came after this one?"
            models.Index(fields=["timeline", "seq"], name="timelineentry_seq"),
            # "which tombstones are old enough to delete?" Live entries are not in it.
            models.Index(
                fields=["dead_at"], name="timelineentry_dead", condition=Q(dead_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry_id} in timeline {self.timeline_id}"


class Follower(models.Model):
    """The owner of a home: a person, or a team, which is one of Django's groups."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True
    )
    team = models.OneToOneField(Group, on_delete=models.CASCADE, null=True, blank=True)
    # When the home was last read, to the hour.
    read_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, team__isnull=False) | Q(user__isnull=False, team=None),
                name="follower_is_a_user_or_a_team",
            )
        ]
        indexes = [
            # "whose home was not read for that long?"
            models.Index(fields=["read_at"], name="follower_read"),
        ]

    def __str__(self) -> str:
        return str(self.user or self.team)


class Follow(models.Model):
    """A follower follows an origin, which is a source or an account."""

    pk = models.CompositePrimaryKey("follower_id", "origin_id")
    follower = models.ForeignKey(
        Follower, on_delete=models.CASCADE, related_name="follows", db_index=False
    )
    origin_id = models.BigIntegerField()
    followed_at = models.DateTimeField()

    class Meta:
        indexes = [
            # "who follows it?"
            models.Index(fields=["origin_id", "follower_id"], name="follow_of_origin"),
        ]

    def __str__(self) -> str:
        return f"{self.follower_id} follows {self.origin_id}"

    @property
    def source_id(self) -> int | None:
        return self.origin_id if self.origin_id > 0 else None

    @property
    def author_id(self) -> int | None:
        return -self.origin_id if self.origin_id < 0 else None


class DeliveryMark(models.Model):
    """How far the arrivals of an origin are delivered. Not in the origin's own row: storing
    arrivals locks that, and so never waits for a delivery."""

    origin_id = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(default=0)
    # Followers with greater ids get no deliveries: they get this origin on read (`fanout_limit`).
    reach = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.origin_id} delivered up to {self.number}"


class BuiltHome(models.Model):
    """A follower's home, built by a strategy.

    It has every tweet of the home from `floor` on; it may have others too, so its tweets are
    checked before they are shown.
    """

    pk = models.CompositePrimaryKey("follower_id", "strategy")
    # No index of its own, here and below: the primary key begins with it.
    follower = models.ForeignKey(
        Follower, on_delete=models.CASCADE, related_name="built_homes", db_index=False
    )
    strategy = models.CharField(max_length=10)
    # The size of its buckets; if the settings have another, it is rebuilt.
    shape = models.IntegerField(default=0)
    floor = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0, help_text="Tweets put into its buckets.")
    # Null: it is being built and cannot be read yet, but deliveries already go into it.
    built_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["strategy"], name="builthome_of_strategy")]

    def __str__(self) -> str:
        return f"{self.strategy} of {self.follower_id}"


class TimedBucket(models.Model):
    """The tweets of a home that were posted in one span of days, newest first."""

    pk = models.CompositePrimaryKey("follower_id", "bucket")
    follower = models.ForeignKey(
        Follower, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    bucket = models.IntegerField()
    ids = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{self.follower_id}, bucket {self.bucket}"


class SizedBucket(models.Model):
    """Tweets of a home in the order in which they came, a fixed number per bucket."""

    pk = models.CompositePrimaryKey("follower_id", "n")
    follower = models.ForeignKey(
        Follower, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    n = models.IntegerField()
    ids = ArrayField(models.BigIntegerField())
    min_id = models.BigIntegerField()
    max_id = models.BigIntegerField()

    class Meta:
        indexes = [
            # Newest first, and "which of them may hold this tweet?"
            models.Index(fields=["follower", "max_id", "n"], name="sizedbucket_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.follower_id}, bucket {self.n}"


class RebuildBucket(Bucket):
    """Rebuilds that are due together."""


class HomeRebuild(Job):
    """A home to be built; its key is the follower's."""

    queue = "timeline:rebuild"
    bucket = RebuildBucket
    most_keys = 1

    def __str__(self) -> str:
        return f"rebuild for follower {self.key}"


class HomeReads(models.Model):
    """Pages of homes read on one UTC day, by where they came from (`Page.served_by`)."""

    pk = models.CompositePrimaryKey("day", "served_by")
    day = models.DateField()
    served_by = models.CharField(max_length=30)
    pages = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.pages} from {self.served_by} on {self.day}"


class HomeSettings(models.Model):
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
        "people who follow up to a few thousand sources. Choose the capped cache if homes "
        "are viewed all the time or people follow very many sources; sized buckets, "
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
        help_text="Deliver a source to this many followers, the earliest first; the others read "
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
        help_text="A home that has not been viewed for this many days is dropped. When its "
        "follower returns, it is answered on read and rebuilt.",
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
        verbose_name = verbose_name_plural = "home settings"
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="homesettings_one_row"),
            models.CheckConstraint(
                condition=Q(strategy__in=["read", "timed", "sized", "cache"]),
                name="homesettings_strategy",
            ),
            models.CheckConstraint(
                condition=Q(cache_size__gte=50, bucket_days__gte=1, bucket_size__gte=10)
                & Q(depth__gte=100, follow_backfill__gte=1, idle_days__gte=1)
                & (Q(fanout_limit=None) | Q(fanout_limit__gte=1)),
                name="homesettings_sizes",
            ),
            models.CheckConstraint(
                condition=Q(cache_slack__lte=F("cache_size")), name="homesettings_slack"
            ),
            models.CheckConstraint(
                condition=Q(embed=[]) | Q(strategy="cache", embed__contained_by=["text", "author"]),
                name="homesettings_embed",
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
