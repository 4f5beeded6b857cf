"""The books of each project: what it spent today and this month, and what it may still spend.

The day is by X's clock. What is reserved counts as spent, at the project's price: X may bill it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from trackers.money.ledger import Purse, purses
from trackers.money.projects import Project
from tweetwatch.database import array, cursor

SPENT = """
    SELECT p.id,
           coalesce(sum(s.posts + s.posts_reserved) FILTER (WHERE s.day = given.day), 0)::bigint,
           coalesce(sum(s.posts + s.posts_reserved), 0)::bigint,
           coalesce(sum(s.money + s.reserved) FILTER (WHERE s.day = given.day), 0),
           coalesce(sum(s.money + s.reserved), 0),
           coalesce(sum(s.users + s.users_reserved) FILTER (WHERE s.day = given.day), 0)::bigint,
           coalesce(sum(s.users + s.users_reserved), 0)::bigint
    FROM unnest(%(projects)s::bigint[], %(days)s::date[]) AS given(project, day)
    JOIN trackers_project p ON p.id = given.project
    LEFT JOIN LATERAL (
        SELECT one.*, one.posts_reserved * p.price_of_a_post
                      + one.users_reserved * p.price_of_a_user AS reserved
        FROM trackers_spending one
        WHERE one.project_id = p.id
          AND one.day >= date_trunc('month', given.day)
          AND one.day < date_trunc('month', given.day) + interval '1 month'
    ) s ON true
    GROUP BY p.id
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """Tweet-days, US dollars and accounts, with what is reserved."""

    posts_today: int = 0
    posts_month: int = 0
    money_today: Decimal = Decimal(0)
    money_month: Decimal = Decimal(0)
    users_today: int = 0
    users_month: int = 0


@dataclass(frozen=True, slots=True)
class Books:
    """`left`: tweet-days that may still be spent on X's `day`; None without a limit."""

    project: Project
    day: date
    left: int | None
    spent: Spent


def books() -> list[Books]:
    """Of every project, by name: three queries in all."""
    found = {purse.project: purse for purse in purses()}
    sums = spent(list(found.values()))
    return [
        Books(project, purse.day, purse.left, sums.get(purse.project, Spent()))
        for project in Project.objects.all()
        if (purse := found.get(project.pk))
    ]


def spent(of: Sequence[Purse]) -> dict[int, Spent]:
    """By project, for the day of its purse and the month of that day."""
    projects = array(purse.project for purse in of)
    days = array(purse.day.isoformat() for purse in of)
    with cursor() as db:
        rows = db.execute(SPENT, {"projects": projects, "days": days}).fetchall()
    return {row[0]: Spent(*row[1:]) for row in rows}
