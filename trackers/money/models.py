"""Who pays: projects, their apps, and what was spent on each UTC day.

Credential ─> App ─> Project ─> Spending, a row for each day. The unit is the tweet-day: X bills a
post once per UTC day and project, however often it is read.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.core.validators import MinValueValidator
from django.db import models

if TYPE_CHECKING:
    from typing import Self

_NOT_NEGATIVE = [MinValueValidator(0)]
_NO_LIMIT = "Leave empty for no limit."
_SPREAD_OVER_MONTH = (
    f"{_NO_LIMIT} Without a daily budget, what is left is spread evenly over the remaining days."
)


def _dollars(**given: Any) -> models.DecimalField:
    return models.DecimalField(max_digits=12, decimal_places=6, validators=_NOT_NEGATIVE, **given)


class Project(models.Model):
    """An account that X bills: its budgets, and what X last said about its money."""

    name = models.CharField(max_length=60, unique=True)

    posts_a_day = models.PositiveIntegerField(
        "tweet-days a UTC day", null=True, blank=True, help_text=_NO_LIMIT
    )
    posts_a_month = models.PositiveIntegerField(
        "tweet-days a month",
        null=True,
        blank=True,
        help_text=_SPREAD_OVER_MONTH,
    )
    money_a_day = _dollars(
        verbose_name="US dollars a UTC day", null=True, blank=True, help_text=_NO_LIMIT
    )
    money_a_month = _dollars(
        verbose_name="US dollars a month",
        null=True,
        blank=True,
        help_text=_SPREAD_OVER_MONTH,
    )
    price_of_a_post = _dollars(
        default=Decimal("0.005"), help_text="US dollars per post and UTC day."
    )
    price_of_an_owned_post = _dollars(
        default=Decimal("0.001"),
        db_default=Decimal("0.001"),
        help_text="US dollars per post by the account that owns the app, or that mentions it, if "
        "a source of that account reads it with its own tokens.",
    )
    price_of_a_user = _dollars(
        default=Decimal("0.010"), help_text="US dollars per account looked up."
    )
    # "Counts: Recent … per request" (x-api/getting-started/pricing, 2026-08-22).
    price_of_a_count = _dollars(
        default=Decimal("0.005"),
        db_default=Decimal("0.005"),
        help_text="US dollars per count of what a search finds.",
    )
    # "Counts: All … per request" (the same page).
    price_of_an_archive_count = _dollars(
        default=Decimal("0.010"),
        db_default=Decimal("0.010"),
        help_text="US dollars per count of what a search of X's full archive finds in 30 days.",
    )

    # X said that the credits or the cap are used up: no request is sent until then.
    depleted_until = models.DateTimeField(null=True, editable=False)
    depleted_reason = models.CharField(max_length=300, blank=True, editable=False)
    depletions = models.PositiveSmallIntegerField(default=0, editable=False)
    # The account at X that pays, once X has named it: its money is that of all its projects.
    account = models.BigIntegerField(null=True, editable=False)

    # GET /2/usage/tweets as last read, with our own count of the month at that moment.
    usage_read_at = models.DateTimeField(null=True, editable=False)
    usage_of_month = models.BigIntegerField(null=True, editable=False)
    ours_of_month = models.BigIntegerField(null=True, editable=False)
    cap = models.BigIntegerField(null=True, editable=False)
    cap_resets_on = models.DateField(null=True, editable=False)
    # What GET /2/usage/credits last said is left, in US dollars; null where X never did.
    credits_left = models.DecimalField(max_digits=14, decimal_places=6, null=True, editable=False)
    credits_read_at = models.DateTimeField(null=True, editable=False)
    usage_problem = models.CharField(max_length=300, blank=True, editable=False)

    # Rationing (trackers.updater.rationing): how many tweet-days a tweet of a tier leaves to
    # younger ones, as [younger than this many seconds, tweet-days], and the forecast that
    # belongs to it.
    reserved_for_younger = models.JSONField(default=list, editable=False)
    rationed_at = models.DateTimeField(null=True, editable=False)
    needs = models.PositiveIntegerField(null=True, editable=False)
    waiting = models.PositiveIntegerField(default=0, editable=False)
    runs_dry_at = models.DateTimeField(null=True, editable=False)
    # Since when a batch has waited for the rationing of a new day (trackers.updater.reserve).
    rationing_requested_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def has_budget(self) -> bool:
        limits = (self.posts_a_day, self.posts_a_month, self.money_a_day, self.money_a_month)
        return any(limit is not None for limit in limits)

    def cost_of_posts(self, posts: int, *, owned: int = 0) -> Decimal:
        """Dollars for tweet-days, of which so many are owned reads, as in `ledger`."""
        return (posts - owned) * self.price_of_a_post + owned * self.price_of_an_owned_post

    @property
    def drift(self) -> int | None:
        """How many more posts X counted this month than we did; None when X gave no count."""
        if self.usage_of_month is None or self.ours_of_month is None:
            return None
        return self.usage_of_month - self.ours_of_month

    def is_depleted(self, *, now: datetime) -> bool:
        return self.depleted_until is not None and self.depleted_until > now


class AppQuerySet(models.QuerySet["App"]):
    def named(self, app: str, project: str = "") -> App:
        """The app of this name, in the project of that name; created if there is none.

        Raises ValueError if the app belongs to another project.
        """
        existing = self.select_related("project").filter(name=app).first()
        if existing is None:
            return self.create(
                name=app, project=Project.objects.get_or_create(name=project or app)[0]
            )
        if project and existing.project.name != project:
            raise ValueError(f"The app {app} belongs to the project {existing.project}.")
        return existing


class App(models.Model):
    """An app at X, whose bearer tokens share one window."""

    name = models.CharField(max_length=60, unique=True)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="apps")

    objects = AppQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class SpendingQuerySet(models.QuerySet["Spending"]):
    def of_month(self, day: Any) -> Self:
        return self.filter(day__year=day.year, day__month=day.month)


class Spending(models.Model):
    """What a project spent on a UTC day, by X's clock. Reserved: requested, but not answered yet.

    What a crash leaves reserved stays reserved: X may have billed it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="spending")
    day = models.DateField()
    posts = models.IntegerField(default=0)
    users = models.IntegerField(default=0)
    # Those of `posts` that X bills as owned reads.
    owned_posts = models.IntegerField(default=0, db_default=0)
    # Requests that counted what a search finds.
    counts = models.IntegerField(default=0, db_default=0)
    # The same of X's full archive.
    archive_counts = models.IntegerField(default=0, db_default=0)
    posts_reserved = models.IntegerField(default=0)
    users_reserved = models.IntegerField(default=0)
    counts_reserved = models.IntegerField(default=0, db_default=0)
    archive_counts_reserved = models.IntegerField(default=0, db_default=0)
    money = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    # X's own count of the day's posts, as last reported.
    reported_posts = models.IntegerField(null=True)

    objects = SpendingQuerySet.as_manager()

    class Meta:
        ordering = ["-day"]
        constraints = [
            models.UniqueConstraint(fields=["project", "day"], name="spending_of_a_day"),
            models.CheckConstraint(
                condition=models.Q(
                    posts_reserved__gte=0, users_reserved__gte=0, counts_reserved__gte=0
                ),
                name="reserved_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} on {self.day}: {self.posts} posts"
