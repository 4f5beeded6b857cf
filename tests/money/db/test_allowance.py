"""What the budgets allow on a day to come."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.factories import AppFactory, CredentialFactory, ProjectFactory
from trackers.money.allowance import Allowance, allowance_by_limit, tomorrows_allowance
from trackers.money.models import Project, Spending
from trackers.money.summary import Spent

MIDDLE, LAST = date(2027, 4, 11), date(2027, 4, 30)


@pytest.mark.parametrize(
    ("budgets", "spent", "day", "expected"),
    [
        ({"posts_a_day": 100}, Spent(posts_today=90), MIDDLE, {"posts_a_day": 100}),
        ({"money_a_day": Decimal(1)}, Spent(), MIDDLE, {"money_a_day": 200}),
        # Ten days are over, twenty are left with today, whatever today took already.
        (
            {"posts_a_month": 3000},
            Spent(posts_month=1050, posts_today=50),
            MIDDLE,
            {"posts_a_month": 100},
        ),
        ({"money_a_month": Decimal(30)}, Spent(money_month=Decimal(10)), MIDDLE,
         {"money_a_month": 200}),
        # Tomorrow is a new month of 31 days.
        ({"posts_a_month": 3100}, Spent(posts_month=3100), LAST, {"posts_a_month": 100}),
        ({"posts_a_month": 3100}, Spent(posts_month=4000), MIDDLE, {"posts_a_month": 0}),
        ({}, Spent(), MIDDLE, {}),
    ],
)  # fmt: skip
def test_each_budget_gives_its_daily_allowance(budgets, spent, day, expected):
    assert allowance_by_limit(Project(**budgets), spent, day=day) == pytest.approx(expected)


def test_free_posts_are_not_limited_by_dollars():
    free = Project(money_a_day=Decimal(1), money_a_month=Decimal(1), price_of_a_post=Decimal(0))

    assert allowance_by_limit(free, Spent(), day=MIDDLE) == {}


@pytest.fixture
def two(db):
    for name, budget in (("one", 100), ("two", 50)):
        project = ProjectFactory(name=name, posts_a_day=budget)
        CredentialFactory(app=AppFactory(project=project))


def test_the_allowances_of_projects_add_up(two):
    assert tomorrows_allowance() == Allowance(
        150, "one: tweet-days a UTC day, two: tweet-days a UTC day"
    )


def test_the_tightest_budget_limits_the_allowance(two):
    # A day's share of it is at most half, on the last but one of a month: 50 tweets.
    Project.objects.filter(name="one").update(money_a_month=Decimal("0.5"))
    Spending.objects.create(
        project=Project.objects.get(name="one"), day=timezone.now().date(), money=Decimal("0.3")
    )

    found = tomorrows_allowance()

    assert found.tweet_days < 150
    assert found.budgets.startswith("one: US dollars a month")


def test_projects_without_usable_credentials_do_not_count(two):
    Project.objects.filter(name="two").update(depleted_until=timezone.now() + timedelta(hours=1))
    assert tomorrows_allowance().tweet_days == 100

    Project.objects.filter(name="one").update(depleted_until=timezone.now() + timedelta(hours=1))
    assert tomorrows_allowance() == Allowance()


def test_one_project_without_a_budget_lifts_the_limit(two):
    CredentialFactory(app=AppFactory(project=ProjectFactory(name="three")))

    assert tomorrows_allowance() == Allowance()


def test_without_a_credential_there_is_no_limit():
    ProjectFactory(name="one", posts_a_day=5)

    assert tomorrows_allowance() == Allowance()
