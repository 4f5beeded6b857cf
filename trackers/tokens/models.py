"""Access from outside: tokens of the API, and people's secret addresses of homes as feeds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import cast
from uuid import UUID, uuid4, uuid5
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from trackers.timelines.models import Follower
from trackers.tokens.secret import DIGEST_LETTERS, digest_of, new_secret
from tweetwatch.notation import DateOrder, Notation

# A token in use would otherwise cost a write with each request.
_USED_EVERY = timedelta(hours=1)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def authenticate(self, secret: str, *, now: datetime) -> ApiToken | None:
        """The token, with its user; None if it or its user is no longer allowed."""
        tokens = self.filter(digest=digest_of(secret), revoked_at=None)
        token = tokens.filter(user__is_active=True).select_related("user").first()
        if token is None:
            return None
        unused = models.Q(used_at=None) | models.Q(used_at__lt=now - _USED_EVERY)
        if token.used_at is None or token.used_at < now - _USED_EVERY:
            self.filter(unused, pk=token.pk).update(used_at=now)
        return token


class ApiToken(models.Model):
    """A program's key to the API, where it may do what its user may do, within its scope; or to the
    bus, where it has no user, and publishes and subscribes under its name."""

    class Scope(models.TextChoices):
        """Of the API's scopes each includes those before it."""

        READ = "read", "read: view only"
        WRITE = "write", "write: also change tweets, sources, timelines and follows"
        ADMIN = "admin", "admin: also change subscribers, intervals and queues"
        BUS = "bus", "bus: publish and subscribe"
        # Neither publishes nor subscribes.
        ROOT = "root", "root: create and revoke tokens of the bus"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="api_tokens"
    )
    name = models.CharField(max_length=64, help_text="What it is for, in your own words.")
    scope = models.CharField(
        max_length=5,
        choices=Scope,
        default=Scope.READ,
        help_text="What a program may do with it, within what its user may do.",
    )
    digest = models.CharField(max_length=DIGEST_LETTERS, unique=True, editable=False)
    # On the bus: the first characters, for people to recognize it; the rest is stored nowhere.
    begins = models.CharField(max_length=12, blank=True, default="", db_default="", editable=False)

    made_at = models.DateTimeField(auto_now_add=True)
    # Accurate to the hour.
    used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "API token"
        ordering = ["-made_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scope__in=["read", "write", "admin"], user__isnull=False)
                | models.Q(scope__in=["bus", "root"], user=None),
                name="apitoken_scope",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}" if self.user else self.name

    def save_with_secret(self) -> str:
        """Save a new one and return its secret, which is shown only once."""
        secret = new_secret()
        self.digest = digest_of(secret)
        self.save()
        return secret


# Of the API, each with all that those before it may.
SCOPES = READ_SCOPE, WRITE_SCOPE, ADMIN_SCOPE = (
    ApiToken.Scope.READ,
    ApiToken.Scope.WRITE,
    ApiToken.Scope.ADMIN,
)


class ApiUse(models.Model):
    """How many requests a token made in its current window (`api_use`).

    Not written to the database's log: after a crash the windows start over.
    """

    token = models.OneToOneField(ApiToken, on_delete=models.CASCADE, primary_key=True)
    begun_at = models.DateTimeField()
    used = models.IntegerField()
    # How far the log went in what it has seen or changed (`standbys.places`); null: unknown.
    timeline = models.IntegerField(null=True)
    lsn = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.used} of {self.token_id}"


class IdempotencyKey(models.Model):
    """A key that a token has used for a request in the last day (`idempotency`)."""

    pk = models.CompositePrimaryKey("token_id", "key")
    # No foreign key: a row may outlive its token, for up to a day.
    token_id = models.BigIntegerField()
    # Of the key, and of what was asked: the first half of the SHA-256.
    key = models.UUIDField()
    asked = models.UUIDField()
    status = models.SmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, blank=True, default="", db_default="")
    # Encrypted with FIELD_KEYS, since it may hold a secret that is shown only once; null: of the
    # bus.
    answer = models.BinaryField(null=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            # What to forget.
            models.Index(
                fields=["at"],
                name="idempotencykey_bus",
                condition=models.Q(answer=None),
            ),
            models.Index(
                fields=["at"],
                name="idempotencykey_api",
                condition=models.Q(answer__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.token_id}"


class FeedAddress(models.Model):
    """The secret part of the addresses of a home's feeds, as one person reads them.

    One per home and person: a new one replaces the old, and without a row nobody can read.
    """

    # No index of its own: the constraint's starts with it.
    follower = models.ForeignKey(
        Follower, on_delete=models.CASCADE, related_name="addresses", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feed_addresses"
    )
    digest = models.CharField(max_length=DIGEST_LETTERS, unique=True)
    made_at = models.DateTimeField()
    # From which the ids of its feeds are made. It stays when the address is replaced.
    feeds_id = models.UUIDField(default=uuid4, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["follower", "user"], name="feedaddress_once"),
        ]

    def __str__(self) -> str:
        return f"address of {self.follower} for {self.user}"

    def feed_id(self, source_id: int) -> UUID:
        """The id of a feed, by what it is of as in `FeedState`, under whatever host it is read."""
        return uuid5(self.feeds_id, str(source_id))


class FeedState(models.Model):
    """What a feed last held, and since when: a deletion changes it, but leaves no time itself."""

    pk = models.CompositePrimaryKey("address_id", "source_id")
    # No index of its own: the primary key starts with it.
    address = models.ForeignKey(
        FeedAddress, on_delete=models.CASCADE, related_name="states", db_index=False
    )
    # 0: the home. Below 0: a saved view, by its negated id.
    source_id = models.BigIntegerField()
    digest = models.CharField(max_length=DIGEST_LETTERS)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.address_id}, {self.source_id}"


class WrongLogin(models.Model):
    """How often a password was wrong lately, by account, address, and both.

    The key is a keyed hash into a fixed range (`wrong_logins`), so the table's size is bounded,
    whatever is tried.
    """

    bucket = models.IntegerField(primary_key=True)
    failures = models.SmallIntegerField()
    last_at = models.DateTimeField()
    # The account's own bucket, so that a person can unlock it wherever it was tried from.
    account = models.IntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.bucket}: {self.failures}"


class TimeFormat(models.Model):
    """How a person reads times, as they confirmed it once; without a row it is UTC."""

    class Dates(models.TextChoices):
        YEAR_FIRST = "ymd", "2026-03-14"
        DAY_FIRST = "dmy", "14 Mar 2026"
        MONTH_FIRST = "mdy", "Mar 14, 2026"

    class Hours(models.IntegerChoices):
        OF_24 = 24, "13:45"
        OF_12 = 12, "1:45 PM"

    class WeekStart(models.IntegerChoices):
        MONDAY = 0
        SATURDAY = 5
        SUNDAY = 6

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="time_format",
    )
    zone = models.CharField("time zone", max_length=64)
    dates = models.CharField(max_length=3, choices=Dates, default=Dates.YEAR_FIRST)
    hours = models.SmallIntegerField("times", choices=Hours, default=Hours.OF_24)
    week_start = models.SmallIntegerField(
        "a week begins on",
        choices=WeekStart,
        default=WeekStart.MONDAY,
        db_default=WeekStart.MONDAY,
    )

    def __str__(self) -> str:
        return f"{self.zone}, {self.dates}, {self.hours} h"

    def notation(self) -> Notation:
        """UTC where this machine does not know the zone any more."""
        try:
            zone: tzinfo = ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError):
            zone = UTC
        return Notation(zone, cast(DateOrder, self.dates), self.hours, self.week_start)


class Preferences(models.Model):
    """How a person wants pages, on each of their devices; without a row as the device is set."""

    class Theme(models.TextChoices):
        SYSTEM = "system", "as the device is set"
        LIGHT = "light"
        DARK = "dark"

    class Density(models.TextChoices):
        SPACIOUS = "spacious"
        COMPACT = "compact"

    class Start(models.TextChoices):
        """By the names of their addresses."""

        TODAY = "overview", "Today"
        TWEETS = "tweets"
        COLUMNS = "columns"
        HOME = "home"
        SOURCES = "sources"
        ALERTS = "alerts"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="preferences",
    )
    theme = models.CharField(max_length=6, choices=Theme, default=Theme.SYSTEM)
    density = models.CharField(max_length=8, choices=Density, default=Density.SPACIOUS)
    start = models.CharField("first page", max_length=8, choices=Start, default=Start.TODAY)

    def __str__(self) -> str:
        return f"{self.theme}, {self.density}, {self.start}"

    @property
    def begins_elsewhere(self) -> bool:
        """Whether `/` leads to another page than Today."""
        return self.start != self.Start.TODAY


class CacheEntry(models.Model):
    """What django-allauth counts and must not accept twice, for all processes (`CACHES`). Django's
    own backend reads and writes it, and keeps it small.

    Not written to the database's log: after a crash it starts empty.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
