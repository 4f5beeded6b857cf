"""Authors, tweets, and samples of their metrics.

The newest sample is on the tweet's own row, so that a measurement without change is one HOT update.
When it ends, `record` closes it into a row of `Sample`; `pack` later turns a day's rows into one
`PackedSamples` row per tweet and month. `history` reads the three as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Collate, Lower

from trackers.tweets.displayed import displayed
from trackers.tweets.finding.words import words_of
from trackers.tweets.kinds import PostKind
from tweetwatch import among  # noqa: F401 - registers the lookup

if TYPE_CHECKING:
    from typing import Self

# Views are what X's API calls impressions.
METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")


class Author(models.Model):
    """An author. The name is known only after a request to the users endpoint."""

    id = models.BigIntegerField(primary_key=True)
    username = models.CharField(max_length=50, blank=True)
    name = models.CharField(max_length=200, blank=True)
    protected = models.BooleanField(default=False)
    checked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # "whose name is not known yet?"
            models.Index(fields=["id"], name="author_unnamed", condition=Q(checked_at=None)),
            # "@name", whole or a prefix, in any case.
            models.Index(Collate(Lower("username"), "C"), name="author_username"),
            GinIndex(words_of("name"), name="author_words"),
        ]

    def __str__(self) -> str:
        return f"@{self.username}" if self.username else f"author {self.id}"


class TweetQuerySet(models.QuerySet["Tweet"]):
    def newest_first(self) -> Self:
        return self.order_by("-id")

    def gone(self) -> Self:
        return self.exclude(gone_at=None)

    def paused(self) -> Self:
        return self.filter(paused=True)


class RealField(models.FloatField):
    """A float of four bytes."""

    def db_type(self, connection: object) -> str:
        return "real"


class Tweet(models.Model):
    """A tracked post, original or retweet alike, with its newest sample."""

    class Missing(models.TextChoices):
        NOT_FOUND = "not_found", "deleted"
        PROTECTED = "protected", "protected"
        SUSPENDED = "suspended", "author suspended"
        UNAUTHORIZED = "unauthorized", "not visible to us"
        UNAVAILABLE = "unavailable", "unavailable, reason unknown"

    id = models.BigIntegerField(primary_key=True)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, null=True, db_constraint=False)
    created_at = models.DateTimeField(null=True)

    tracked_at = models.DateTimeField()
    came_from = models.CharField(max_length=200, blank=True)
    paused = models.BooleanField(default=False)

    # If it was edited: the id of its newest version, which is requested from X.
    newest = models.BigIntegerField(null=True)
    # Tracked before it was known to be a version of this other tweet, which is looked up instead.
    version_of = models.BigIntegerField(null=True)

    # Where X does not show it, for example "DE FR copyright".
    withheld = models.TextField(blank=True, db_default="")

    # Since when X does not show it, and why; gone once a second look-up confirmed it.
    missing_since = models.DateTimeField(null=True)
    missing_reason = models.CharField(max_length=12, choices=Missing, blank=True)
    gone_at = models.DateTimeField(null=True)

    # Since when X's answers for it cannot be read, or leave it out; and what is wrong with them
    # (empty if it was left out).
    unreadable_since = models.DateTimeField(null=True)
    unreadable_reason = models.CharField(max_length=200, blank=True, db_default="")

    # The UTC day that X last billed it on, and the project that paid (trackers.money.models).
    paid_on = models.DateField(null=True)
    paid_by = models.IntegerField(null=True)

    # The newest sample: from when, until when and how often these metrics were measured.
    taken_at = models.DateTimeField(null=True)
    measured_until = models.DateTimeField(null=True)
    measurements = models.IntegerField(default=0)
    retweets = models.IntegerField(null=True)
    replies = models.IntegerField(null=True)
    likes = models.IntegerField(null=True)
    quotes = models.IntegerField(null=True)
    bookmarks = models.IntegerField(null=True)
    views = models.BigIntegerField(null=True)
    # How fast these grew at `measured_until` (see `tweets.pace`); null: unknown. Negative, infinite
    # or NaN also means unknown.
    pace = RealField(null=True)

    # For the lists of what grows fastest, which write these (`tweets.gains`): from which value of a
    # metric on, and from when on, a changed tweet is ranked again. Null: at its next change. They
    # are the last columns, so that an update of those before them does not log them.
    ranked_at_retweets = models.IntegerField(null=True)
    ranked_at_replies = models.IntegerField(null=True)
    ranked_at_likes = models.IntegerField(null=True)
    ranked_at_quotes = models.IntegerField(null=True)
    ranked_at_bookmarks = models.IntegerField(null=True)
    ranked_at_views = models.IntegerField(null=True)
    ranked_again_at = models.DateTimeField(null=True)

    objects = TweetQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["author", "-id"], name="tweet_by_author"),
            # "which authors could explain why a tweet is hidden?"
            models.Index(
                fields=["author"], name="tweet_hidden", condition=Q(missing_reason="unauthorized")
            ),
            # Rare states, so that counting and listing them never scans the table.
            models.Index(fields=["id"], name="tweet_gone", condition=~Q(gone_at=None)),
            models.Index(fields=["id"], name="tweet_paused", condition=Q(paused=True)),
            models.Index(
                fields=["id"],
                name="tweet_missing",
                condition=Q(gone_at=None) & ~Q(missing_since=None),
            ),
            models.Index(
                fields=["id"], name="tweet_unreadable", condition=~Q(unreadable_since=None)
            ),
            models.Index(
                fields=["version_of"], name="tweet_version_of", condition=~Q(version_of=None)
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def url(self) -> str:
        return f"https://x.com/i/status/{self.newest or self.pk}"

    def counts(self) -> dict[str, int | None]:
        return {metric: getattr(self, metric) for metric in METRICS}


class TweetText(models.Model):
    """A tweet's text, in its own table: measuring never rewrites it, and a deletion removes it."""

    tweet = models.OneToOneField(Tweet, on_delete=models.CASCADE, primary_key=True)
    text = models.TextField()
    lang = models.CharField(max_length=10, blank=True)
    edit_history = ArrayField(models.BigIntegerField(), default=list)
    # What X adds for free; null if unknown or absent.
    conversation_id = models.BigIntegerField(null=True)
    replied_to = models.BigIntegerField(null=True)
    quoted = models.BigIntegerField(null=True)
    retweeted = models.BigIntegerField(null=True)
    media_keys = ArrayField(models.TextField(), null=True)
    # Null for a retweet, whose counts are those of the original.
    kind = models.SmallIntegerField(choices=PostKind, null=True)
    # What X recognised in the text (`tweets.entities`), in lower case; null if it is nothing, or
    # not known. `links` is an array of `xapi.results.Link` as objects.
    hashtags = ArrayField(models.TextField(), null=True)
    cashtags = ArrayField(models.TextField(), null=True)
    mentions = ArrayField(models.TextField(), null=True)
    domains = ArrayField(models.TextField(), null=True)
    links = models.JSONField(null=True)

    class Meta:
        indexes = [
            # On an expression: a stored column would double the size of the table and take a
            # rewrite to add. New texts wait in the index's pending list until some ten thousand are
            # added at once: that is half the work, and searches read the list too.
            GinIndex(words_of("text"), name="tweettext_words"),
            # One for all: any of its columns is searched alone.
            GinIndex(
                fields=["hashtags", "domains", "mentions", "cashtags"], name="tweettext_entities"
            ),
        ]

    def __str__(self) -> str:
        return self.text[:60]

    @property
    def displayed(self) -> str:
        """As X displays it, in words."""
        return displayed(self.text, self.links)


class TweetVersion(models.Model):
    """A version of an edited tweet; hardly any tweet has one."""

    id = models.BigIntegerField(primary_key=True)
    tweet = models.ForeignKey(Tweet, on_delete=models.CASCADE, related_name="versions")
    # When X first showed it; null for a version that X never showed.
    seen_at = models.DateTimeField(null=True)
    # What it said; null as `seen_at`, and also once the tweet is gone.
    text = models.TextField(null=True)  # noqa: DJ001

    def __str__(self) -> str:
        return f"version {self.pk} of {self.tweet_id}"


class Sample(models.Model):
    """Metrics that held from `taken_at` until `measured_until`. Written by `record`, never changed.

    Partitioned by `measured_until`; created by SQL in the migrations, so unmanaged here.
    """

    pk = models.CompositePrimaryKey("tweet_id", "taken_at")
    tweet_id = models.BigIntegerField()
    taken_at = models.DateTimeField()
    measured_until = models.DateTimeField()
    measurements = models.IntegerField()
    retweets = models.IntegerField(null=True)
    replies = models.IntegerField(null=True)
    likes = models.IntegerField(null=True)
    quotes = models.IntegerField(null=True)
    bookmarks = models.IntegerField(null=True)
    views = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "trackers_sample"

    def __str__(self) -> str:
        return f"{self.tweet_id} at {self.taken_at:%Y-%m-%d %H:%M:%S}"


class PackedSamples(models.Model):
    """A tweet's older samples that ended in one month: parallel arrays, in the order of time."""

    pk = models.CompositePrimaryKey("tweet_id", "month")
    tweet_id = models.BigIntegerField()
    month = models.DateField()
    taken_at = ArrayField(models.DateTimeField())
    measured_until = ArrayField(models.DateTimeField())
    measurements = ArrayField(models.IntegerField())
    retweets = ArrayField(models.IntegerField(null=True))
    replies = ArrayField(models.IntegerField(null=True))
    likes = ArrayField(models.IntegerField(null=True))
    quotes = ArrayField(models.IntegerField(null=True))
    bookmarks = ArrayField(models.IntegerField(null=True))
    views = ArrayField(models.BigIntegerField(null=True))

    class Meta:
        managed = False
        db_table = "trackers_packedsamples"

    def __str__(self) -> str:
        return f"{self.tweet_id} in {self.month:%Y-%m}"
