"""Where tweets come from: a source, how far it is read, what it yielded, and what is missing.

Source ─ a poll ─> pages ─> SourceTweet, and the tweet is tracked
   └──────────────> Gap: a stretch that could not be read, until it is filled or known to be lost
upload ─> ImportParts, a job for each ─> tracked, and the part is deleted ─> Import: the report
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, When
from django.db.models.functions import Lower

from trackers.jobs.models import MAX_STRIKES, Bucket, Job

if TYPE_CHECKING:
    from typing import Self

LEAST_EVERY, MOST_EVERY = timedelta(seconds=5), timedelta(days=1)
MOST_PAGES = 500
# Each poll reads this much again; later posts are left to the deep re-reads.
MOST_LATE = timedelta(days=1)


# So many sources a page offers to choose from.
MAX_OFFERED = 200


class SourceQuerySet(models.QuerySet["Source"]):
    def active(self) -> Self:
        return self.filter(paused_at=None)

    def polled(self) -> Self:
        """Sources that are read page by page; a stream is pushed, a file is imported once."""
        return self.filter(kind__in=Source.POLLED)

    def troubled_first(self) -> Self:
        """As far as the database knows: hidden, failing or isolated, then with gaps, then paused,
        then all others; each by name. So those that need attention come first."""
        isolated = SourcePoll.objects.filter(key=OuterRef("pk"), strikes__gte=MAX_STRIKES)
        gaps = Gap.objects.filter(source=OuterRef("pk"), closed_at=None)
        trouble = Case(
            When(paused_at__isnull=False, then=2),
            When(~Q(hidden_reason="") | ~Q(problem="") | Exists(isolated), then=0),
            When(Exists(gaps), then=1),
            default=3,
        )
        return self.order_by(trouble, Lower("of"), "pk")

    def offered(self) -> Self:
        """To choose from: the newest, and after these files, of which there may be any number."""
        is_file = Q(kind=Source.Kind.IMPORT)
        return self.alias(is_file=is_file).order_by("is_file", "-pk")[:MAX_OFFERED]

    def files(self) -> Self:
        """Those not yet read to their end first, then the newest."""
        ended = F("report__ended_at").desc(nulls_first=True)
        return self.filter(kind=Source.Kind.IMPORT).order_by(ended, "-pk")


class Source(models.Model):
    """One origin of tweets, as a person named it, with everything its next poll needs to know."""

    class Kind(models.TextChoices):
        ACCOUNT = "account", "An account's posts"
        MENTIONS = "mentions", "Mentions of an account"
        SEARCH = "search", "A search"
        LIST = "list", "A list"
        STREAM = "stream", "Everything that a rule matches, live"
        IMPORT = "import", "A file"

    class Priority(models.IntegerChoices):
        """Who goes first when X's window runs low."""

        LOW = 0, "low: gives way first"
        NORMAL = 1, "normal"
        HIGH = 2, "high: gives way last"

    POLLED = (Kind.ACCOUNT, Kind.MENTIONS, Kind.SEARCH, Kind.LIST)

    kind = models.CharField(max_length=8, choices=Kind)
    of = models.CharField(
        max_length=1024,
        help_text="A username or an account's number, a search query, the number or address of a "
        "list, or a rule for X's filtered stream.",
    )
    owner = models.CharField(
        max_length=60, blank=True, help_text="Whose source it is: a label of your own."
    )
    priority = models.SmallIntegerField(choices=Priority, default=Priority.NORMAL)
    every = models.DurationField(
        default=timedelta(minutes=5), help_text="Time from one poll to the next."
    )
    pages = models.PositiveSmallIntegerField(
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PAGES)],
        help_text="Most pages of 100 posts that one poll reads. Anything beyond them is a gap, "
        "which is filled later.",
    )
    exclude_replies = models.BooleanField("without replies", default=False)
    exclude_retweets = models.BooleanField("without retweets", default=False)
    backfill = models.DurationField(
        null=True,
        blank=True,
        default=timedelta(days=1),
        help_text="How far back the first poll reads. Leave empty for as far as X shows.",
    )
    late_by = models.DurationField(
        null=True,
        blank=True,
        help_text="How late a post may appear, counted from the time in its id, and still be "
        "found by the next poll. Leave empty for the default of its kind (see "
        ".env.example).",
    )
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    # X's own id: of the account or list, however it is renamed; or of the rule.
    account_id = models.BigIntegerField(null=True, editable=False)
    username = models.CharField(max_length=50, blank=True, editable=False)
    rule_id = models.BigIntegerField(null=True, editable=False)
    # The account that was read under another name, until X has said whose the new one is: if it is
    # the same account, reading continues.
    was_account_id = models.BigIntegerField(null=True, editable=False)
    was_of = models.CharField(
        max_length=1024, blank=True, default="", db_default="", editable=False
    )

    # The cursor (trackers.ingest.polls.sweep.Cursor), and the reading under way.
    latest_id = models.BigIntegerField(null=True, editable=False)
    asked_at_ms = models.BigIntegerField(null=True, editable=False)
    passed_id = models.BigIntegerField(default=0, editable=False)
    # Where the first poll began: older posts were never requested, and are not leaks if read later.
    begun_id = models.BigIntegerField(default=0, editable=False)
    # When that was: posts made later are new ones, by which a forecast knows how many come. Null:
    # not read yet; a stream, from its creation on.
    first_read_at = models.DateTimeField(null=True, editable=False)
    sweep = models.JSONField(null=True, editable=False)
    filling = models.ForeignKey(
        "Gap", on_delete=models.SET_NULL, null=True, editable=False, related_name="+"
    )
    # An overlap that gave way to a poll; it continues where it stopped.
    resting = models.JSONField(null=True, editable=False)
    # Counts the steps: a step that began before another one ended must not write.
    version = models.BigIntegerField(default=0, editable=False)

    # When its next poll is due; null: at once. Its job may be due sooner, to fill a gap.
    poll_at = models.DateTimeField(null=True, editable=False)
    # Posts that X billed but the source leaves out, of one day and project (`polls.spend`): they
    # have no tweet's row to record that they are paid.
    left_out = models.JSONField(default=dict, editable=False)

    # Its status.
    polled_at = models.DateTimeField(null=True, editable=False)
    overlapped_at = models.DateTimeField(null=True, editable=False)
    deep_overlapped_at = models.DateTimeField(null=True, editable=False)
    skew = models.DurationField(null=True, editable=False)
    yielded = models.BigIntegerField(default=0, editable=False)
    again = models.BigIntegerField(default=0, editable=False)
    leaked = models.BigIntegerField(default=0, editable=False)
    hidden_reason = models.CharField(max_length=12, blank=True, editable=False)
    problem = models.CharField(max_length=300, blank=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)

    objects = SourceQuerySet.as_manager()

    class Meta:
        ordering = ["-priority", "kind", "of"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["account", "mentions", "search", "list", "stream", "import"]),
                name="source_kind",
            ),
            models.CheckConstraint(
                condition=Q(every__gte=LEAST_EVERY, every__lte=MOST_EVERY), name="source_every"
            ),
            models.CheckConstraint(
                condition=Q(pages__gte=1, pages__lte=MOST_PAGES), name="source_pages"
            ),
            models.CheckConstraint(
                condition=Q(late_by=None) | Q(late_by__gte=timedelta(0)), name="source_late_by"
            ),
            models.CheckConstraint(
                condition=Q(backfill=None) | Q(backfill__gte=timedelta(0)), name="source_backfill"
            ),
            # The same account, search, list or rule would otherwise be read, and paid for, twice.
            models.UniqueConstraint(
                fields=["kind", "of"], condition=~Q(kind="import"), name="source_once"
            ),
        ]

    def __str__(self) -> str:
        match self.kind:
            case self.Kind.ACCOUNT:
                return f"{self._account_name}'s posts"
            case self.Kind.MENTIONS:
                return f"mentions of {self._account_name}"
            case self.Kind.SEARCH:
                return f"search: {self.of}"
            case self.Kind.LIST:
                return f"list {self.of}"
            case self.Kind.STREAM:
                return f"live: {self.of}"
            case _:
                return f"file {self.of}"

    @property
    def _account_name(self) -> str:
        name = self.username or self.of
        if name.isdigit() and not self.username:
            return f"account {name}"
        return f"@{name.removeprefix('@')}"

    @property
    def is_polled(self) -> bool:
        return self.kind in self.POLLED

    @property
    def is_in_a_poll(self) -> bool:
        """Whether it is between two pages of a poll."""
        return self.sweep is not None and self.sweep["purpose"] == "poll"

    @property
    def has_polls(self) -> bool:
        """Also a stream, whose gaps polls fill; without a gap to fill, a poll ends by itself."""
        return self.is_polled or self.kind == self.Kind.STREAM


class GapQuerySet(models.QuerySet["Gap"]):
    def lost(self) -> Self:
        """Those that X's timelines and searches no longer show, of what the source is now."""
        return self.filter(closed_at=None, why=Gap.Why.REACH, was_of="")


class Gap(models.Model):
    """Posts of a source that were not read: from_id < id < to_id; without from_id, all older.

    open ─> filled, or lost once X no longer shows it; given up when the source's origin was changed
    lost ─> filled, if a person has X's full archive searched for it (`archive`)
    """

    class Why(models.TextChoices):
        BUDGET = "budget", "the pages of a poll were used up"
        QUOTA = "quota", "X allowed no more requests, or the money ran out"
        REACH = "reach", "X shows nothing older"
        REPEATS = "repeats", "X sent the same page again and again"
        STREAM = "stream", "the stream was not connected"
        RULE = "rule", "X did not have the rule"
        EDITED = "edited", "the source was changed before it was read"

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="gaps")
    from_id = models.BigIntegerField(null=True)
    to_id = models.BigIntegerField()
    why = models.CharField(max_length=8, choices=Why)
    # Where a list continues, and how much the source had yielded when it stopped there.
    token = models.CharField(max_length=300, blank=True)
    yielded_when_found = models.BigIntegerField(default=0)
    found_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    # The source's origin then; empty: the one it has now.
    was_of = models.CharField(max_length=1024, blank=True, default="", db_default="")
    # Since when X's full archive is to be searched for it; and why it was not, the last time.
    archive_asked_at = models.DateTimeField(null=True)
    archive_refusal = models.CharField(max_length=300, blank=True, default="", db_default="")
    # How many posts X counts in it, from this time to its end; null: X was not asked.
    counted = models.BigIntegerField(null=True)
    counted_from = models.DateTimeField(null=True)

    objects = GapQuerySet.as_manager()

    class Meta:
        ordering = ["-found_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(from_id=None) | Q(from_id__lt=F("to_id")), name="gap_is_a_stretch"
            )
        ]
        indexes = [
            models.Index(fields=["source"], name="gap_open", condition=Q(closed_at=None)),
            # "which were closed long enough ago to be deleted?"
            models.Index(
                fields=["closed_at"], name="gap_closed", condition=Q(closed_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_why_display()}: {self.from_id or 'the beginning'} to {self.to_id}"

    @property
    def is_of_stream(self) -> bool:
        """What the stream did not bring, and search is to fill."""
        return self.why in (self.Why.STREAM, self.Why.RULE)

    @property
    def is_lost(self) -> bool:
        """X no longer shows it: only a file can fill it, or X's full archive if it is asked."""
        return self.why == self.Why.REACH and self.archive_asked_at is None

    @property
    def is_given_up(self) -> bool:
        """It was closed unread: the source has another origin now."""
        return self.closed_at is not None and bool(self.was_of)

    def close(self, *, now: datetime) -> None:
        """It is filled."""
        self.closed_at = now
        self.save(update_fields=["closed_at"])


class SourceTweet(models.Model):
    """A tweet that a source yielded."""

    pk = models.CompositePrimaryKey("source_id", "tweet_id")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="tweets")
    tweet_id = models.BigIntegerField()
    seen_at = models.DateTimeField()
    # First seen below a cursor that had passed it.
    late = models.BooleanField(default=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["source", "tweet_id"], name="sourcetweet_late", condition=Q(late=True)
            ),
            # "which sources does this tweet come from?"
            models.Index(fields=["tweet_id"], name="sourcetweet_of_tweet"),
            # "which are old enough to be deleted?" Late ones never are.
            models.Index(fields=["seen_at"], name="sourcetweet_seen", condition=Q(late=False)),
        ]

    def __str__(self) -> str:
        return f"{self.tweet_id} from source {self.source_id}"


class PollBucket(Bucket):
    """Polls that are due together."""


class SourcePoll(Job):
    """A source's next poll; its key is the source's id."""

    queue = "source:poll"
    bucket = PollBucket
    most_keys = 1

    def __str__(self) -> str:
        return f"poll of source {self.key}"


class SourceDay(models.Model):
    """What a source brought in a day, and what it cost."""

    pk = models.CompositePrimaryKey("source_id", "day")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="days")
    day = models.DateField()
    # New to the source; read before; slipped through a poll.
    posts = models.BigIntegerField(default=0, db_default=0)
    again = models.BigIntegerField(default=0, db_default=0)
    late = models.BigIntegerField(default=0, db_default=0)
    # Tweet-days, and what these cost at the price of that moment.
    billed = models.BigIntegerField(default=0, db_default=0)
    money = models.DecimalField(max_digits=14, decimal_places=6, default=0, db_default=0)

    class Meta:
        # "which are old enough to be deleted?"
        indexes = [models.Index(fields=["day"], name="sourceday_day")]

    def __str__(self) -> str:
        return f"{self.posts} posts of source {self.source_id} on {self.day}"


class SearchCount(models.Model):
    """The newest count of a search: posts of the seven days before, by hours."""

    source = models.OneToOneField(
        Source, on_delete=models.CASCADE, primary_key=True, related_name="count"
    )
    counted_at = models.DateTimeField()
    # X's week: its first and last hours are parts of hours, the others whole, from the oldest on.
    since = models.DateTimeField()
    until = models.DateTimeField()
    posts = models.BigIntegerField()
    by_hour = ArrayField(models.BigIntegerField())
    # What it cost, in US dollars.
    money = models.DecimalField(max_digits=12, decimal_places=6)

    def __str__(self) -> str:
        return f"{self.posts} posts of source {self.source_id} until {self.until}"

    def hours(self) -> list[tuple[datetime, int]]:
        """When each of them begins, and how many posts it had."""
        first = self.since.replace(minute=0, second=0, microsecond=0)
        begins = [first + n * timedelta(hours=1) for n in range(len(self.by_hour))]
        return list(zip([self.since, *begins[1:]], self.by_hour, strict=True))
