"""What the projects together may spend on a future day, and which budgets set that limit.

A tweet whose project has no money left goes to the project that has most (`updater.shares`). So
all projects that may ask share one limit, or have no limit if one of them has none.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from trackers.money.balances import read_balances
from trackers.money.models import Project
from trackers.money.summary import Spent, spent

_LIMIT_WORDS = {
    "posts_a_day": "tweet-days a UTC day",
    "posts_a_month": "tweet-days a month",
    "money_a_day": "US dollars a UTC day",
    "money_a_month": "US dollars a month",
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tweet-days a day; None without a limit, or while no project may ask."""

    tweet_days: float | None = None
    budgets: str = ""  # in words


def tomorrows_allowance() -> Allowance:
    """The allowance of all projects that may ask now."""
    usable = {balance.project: balance.day for balance in read_balances() if balance.usable}
    projects = Project.objects.filter(pk__in=usable)
    if not all(project.has_budget for project in projects):
        return Allowance()
    sums = spent(usable)
    total, words = 0.0, []
    for project in projects:
        by_limit = allowance_by_limit(
            project, sums.get(project.pk, Spent()), day=usable[project.pk]
        )
        # A budget in dollars limits nothing where posts are free.
        if not by_limit:
            return Allowance()
        binding = min(by_limit, key=lambda name: by_limit[name])
        total += by_limit[binding]
        words.append(f"{project}: {_LIMIT_WORDS[binding]}")
    return Allowance(total, ", ".join(words)) if words else Allowance()


def allowance_by_limit(project: Project, spent: Spent, *, day: date) -> Mapping[str, float]:
    """Tweet-days that each budget allows on a day after `day`, by the budget's field.

    The rest of a monthly budget is spread over the remaining days, today included; on the last day
    of a month, the next month's budget counts.
    """
    to_come = day + timedelta(days=1)
    is_new_month = to_come.month != day.month
    days_left = monthrange(to_come.year, to_come.month)[1] - to_come.day + 2 - is_new_month
    price = float(project.price_of_a_post)
    by_limit: dict[str, float] = {}
    if project.posts_a_day is not None:
        by_limit["posts_a_day"] = project.posts_a_day
    if project.posts_a_month is not None:
        used = 0 if is_new_month else spent.posts_month - spent.posts_today
        by_limit["posts_a_month"] = (project.posts_a_month - used) / days_left
    if project.money_a_day is not None and price:
        by_limit["money_a_day"] = float(project.money_a_day) / price
    if project.money_a_month is not None and price:
        gone = 0.0 if is_new_month else float(spent.money_month - spent.money_today)
        by_limit["money_a_month"] = (float(project.money_a_month) - gone) / days_left / price
    return {name: max(0.0, left) for name, left in by_limit.items()}
