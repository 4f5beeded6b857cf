"""The spending of each project: what it spent today and this month, and what it may still spend.

The day is by X's clock. What is reserved counts as spent, at the project's price: X may bill it.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import ceil, floor

from trackers.money.balances import Balance, read_balances
from trackers.money.models import Project
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_SELECT_SPENT = statement(__file__, "spent")


# Workers estimate once a minute; an older estimate is not acted on.
ESTIMATED_WITHIN = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Spent:
    """Tweet-days, US dollars and accounts, including what is reserved."""

    posts_today: int = 0
    posts_month: int = 0
    money_today: Decimal = Decimal(0)
    money_month: Decimal = Decimal(0)
    users_today: int = 0
    users_month: int = 0
    # Those of the tweet-days that X billed as owned reads.
    owned_today: int = 0
    owned_month: int = 0
    # Requests that counted what a search finds.
    counts_today: int = 0
    counts_month: int = 0
    # The same of X's full archive.
    archive_counts_today: int = 0
    archive_counts_month: int = 0


@dataclass(frozen=True, slots=True)
class MoneySummary:
    project: Project
    day: date
    left: int | None  # tweet-days that may still be spent on X's `day`; None without a limit
    spent: Spent
    binding: str | None = None  # the budget that leaves the fewest, as `allowed` names it
    can_pay: bool = True  # see `Balance.usable`

    @property
    def waiting(self) -> int:
        """Tweets that wait for this project's money of X's next day, as last estimated."""
        return self.project.waiting if self.can_pay and self.left is not None else 0

    @property
    def runs_dry_at(self) -> datetime | None:
        return self.project.runs_dry_at if self.waiting else None

    def is_estimated(self, *, now: datetime) -> bool:
        """Whether a worker lately estimated what the rest of this day of X's needs."""
        at = self.project.rationed_at
        if at is None or self.project.needs is None or now - at > ESTIMATED_WITHIN:
            return False
        return at.astimezone(UTC).date() == self.day

    def is_dry(self, *, now: datetime) -> bool:
        """Whether they wait already. What is left may be what the young need."""
        if not self.waiting or not self.is_estimated(now=now):
            return False
        dry_at = self.runs_dry_at
        return self.left == 0 or dry_at is None or dry_at <= now


def money_summaries() -> list[MoneySummary]:
    """Of every project, by name: three queries in all."""
    balances = {balance.project: balance for balance in read_balances()}
    sums = spent({balance.project: balance.day for balance in balances.values()})
    return [
        _summary_of_project(project, balances[project.pk], sums.get(project.pk, Spent()))
        for project in Project.objects.all()
        if project.pk in balances
    ]


def _summary_of_project(project: Project, balance: Balance, spent: Spent) -> MoneySummary:
    binds = binding(project, spent, day=balance.day)
    return MoneySummary(project, balance.day, balance.left, spent, binds, balance.usable)


def binding(project: Project, spent: Spent, *, day: date) -> str | None:
    """The budget that leaves the fewest tweet-days; None without any."""
    found = allowed(project, spent, day=day)
    return min(found, key=lambda name: found[name]) if found else None


def allowed(project: Project, spent: Spent, *, day: date) -> dict[str, int]:
    """How many more tweet-days each budget allows today: the terms of `balances.POSTS_LEFT`.
    Without a daily budget, a month's budget is spread over its days."""
    days_left = monthrange(day.year, day.month)[1] - day.day + 1
    is_spread = project.posts_a_day is None and project.money_a_day is None
    posts: dict[str, int] = {}
    money: dict[str, Decimal] = {}
    if project.posts_a_day is not None:
        posts["posts_a_day"] = project.posts_a_day - spent.posts_today
    if project.posts_a_month is not None:
        rest = project.posts_a_month - spent.posts_month
        posts["posts_a_month"] = rest
        if is_spread:
            share = ceil(Decimal(rest + spent.posts_today) / days_left)
            posts["share_of_posts"] = share - spent.posts_today
    if project.money_a_day is not None:
        money["money_a_day"] = project.money_a_day - spent.money_today
    if project.money_a_month is not None:
        left = project.money_a_month - spent.money_month
        money["money_a_month"] = left
        if is_spread:
            money["share_of_money"] = (left + spent.money_today) / days_left - spent.money_today
    if price := project.price_of_a_post:
        posts |= {name: floor(amount / price) for name, amount in money.items()}
    return posts


def spent(days: Mapping[int, date]) -> dict[int, Spent]:
    """What each project spent, on its day and in the month of that day."""
    with cursor() as db:
        given = {"projects": array(days), "days": array(day.isoformat() for day in days.values())}
        rows = db.execute(_SELECT_SPENT, given).fetchall()
    return {row[0]: Spent(*row[1:]) for row in rows}
