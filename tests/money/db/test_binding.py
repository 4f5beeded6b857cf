"""Which budget binds: whichever it is, it leaves just what the ledger says is left."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import product

import pytest

from tests.factories import CredentialFactory
from trackers.money.models import Project, Spending
from trackers.money.summary import Spent, allowed, binding, money_summaries

A_DAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("budgets", "spent", "binds", "left"),
    [
        pytest.param({}, Spent(), None, None, id="no budget"),
        pytest.param({"posts_a_day": 100}, Spent(posts_today=40), "posts_a_day", 60, id="one"),
        pytest.param(
            {"posts_a_day": 100, "money_a_day": Decimal("0.3")},
            Spent(posts_today=40, money_today=Decimal("0.2")),
            "money_a_day",
            20,
            id="the dollars of the day",
        ),
        # Ten days are left of November, today's among them.
        pytest.param({"posts_a_month": 1000}, Spent(), "share_of_posts", 100, id="a share"),
        pytest.param(
            {"money_a_month": Decimal(5), "posts_a_month": 1001},
            Spent(),
            "share_of_money",
            100,
            id="a share of money",
        ),
        pytest.param(
            {"posts_a_day": 100, "posts_a_month": 1000},
            Spent(posts_month=950),
            "posts_a_month",
            50,
            id="the end of a month",
        ),
        pytest.param(
            {"money_a_day": Decimal(1), "price_of_a_post": Decimal(0)}, Spent(), None, None,
            id="posts that cost nothing",
        ),
    ],
)  # fmt: skip
def test_the_tightest_budget_is_named(budgets, spent, binds, left):
    project = Project(**budgets)

    assert binding(project, spent, day=A_DAY) == binds
    assert allowed(project, spent, day=A_DAY).get(binds) == left


def test_the_balance_equals_that_of_the_ledger():
    limits = product((None, 90), (None, 700), (None, Decimal("0.41")), (None, Decimal("3.3")))
    names = ("posts_a_day", "posts_a_month", "money_a_day", "money_a_month")
    for place, given in enumerate(limits):
        CredentialFactory(name=f"c{place:02}")
        Project.objects.filter(name=f"c{place:02}").update(**dict(zip(names, given, strict=True)))
    [day] = {one.day for one in money_summaries()}
    for project in Project.objects.all():
        for on, posts, kept in ((day, 7, 3), (day.replace(day=1), 50, 0)):
            Spending.objects.update_or_create(
                project=project, day=on, defaults={
                    "posts": posts, "posts_reserved": kept, "users": 2, "users_reserved": 1,
                    "money": posts * Decimal("0.005") + 2 * Decimal("0.01"),
                },
            )  # fmt: skip
    Spending.objects.create(
        project=Project.objects.first(), day=day.replace(day=1) - timedelta(days=1), posts=10_000
    )

    found = money_summaries()

    assert len(found) == 16
    for one in found:
        left = allowed(one.project, one.spent, day=one.day)
        # On the first of a month what both rows spent is more than a day's share.
        assert (max(0, left[one.binding]) if one.binding else None) == one.left, one
