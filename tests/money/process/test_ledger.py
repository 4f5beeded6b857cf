"""Tweet-days: reserved before they are read, settled after, and never more than the budget."""

import threading
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection

from tests.factories import CredentialFactory
from trackers.credentials import selection
from trackers.credentials.models import Credential
from trackers.money import ledger
from trackers.money.balances import read_balances
from trackers.money.models import Project, Spending
from trackers.xapi.results import WindowSeen
from tweetwatch.database import DatabaseClock

pytestmark = pytest.mark.django_db(transaction=True)
TIMEOUT = timedelta(seconds=15)
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def project(**budget):
    CredentialFactory(name="p")
    Project.objects.update(**budget)
    return Project.objects.get()


def x_says(at):
    """The reply to a request tells X's clock: from now on it is `at`, and goes on from there."""
    turn = selection.select_credential()
    resets = at + timedelta(minutes=15)
    selection.settle_answer(turn, WindowSeen("GET /2/tweets", 5000, 4999, resets, at))


def balance_at(at, **budget):
    project(**budget)
    x_says(at)
    return read_balances()[0]


def reserve(balance, *, unpaid, paid):
    """At the time at which the balance was read."""
    clock = DatabaseClock(balance.now - balance.ahead, time.monotonic())
    return ledger.reserve_posts(balance, unpaid=unpaid, paid=paid, timeout=TIMEOUT, clock=clock)


def spent(day):
    row = Spending.objects.get(day=day)
    return row.posts, row.posts_reserved


def test_the_day_follows_the_clock_of_x():
    balance = balance_at(NOON)

    assert balance.day == date(2026, 3, 10)
    assert balance.left is None
    assert balance.next_day() == datetime(2026, 3, 11, 0, 0, 2, tzinfo=UTC)


def test_read_posts_are_billed_and_missing_ones_are_not():
    balance = balance_at(NOON, posts_a_day=100)

    payment = reserve(balance, unpaid=[0] * 60, paid=40)
    assert payment.posts == 60
    assert read_balances()[0].left == 40
    ledger.settle_payment(payment, posts=50, all_posts=90, x_now=NOON)

    assert spent(balance.day) == (50, 0)
    assert read_balances()[0].left == 50
    assert Spending.objects.get().money == Decimal("0.25")


def test_a_failed_request_costs_nothing_and_an_unanswered_one_everything():
    balance = balance_at(NOON, posts_a_day=100)

    ledger.cancel(reserve(balance, unpaid=[0] * 60, paid=0))
    assert spent(balance.day) == (0, 0)
    ledger.count_as_billed(reserve(balance, unpaid=[0] * 60, paid=0))
    assert spent(balance.day) == (60, 0)


def test_the_youngest_get_the_balance_down_to_the_reserve_for_younger_tweets():
    balance = balance_at(NOON, posts_a_day=100)

    young = reserve(balance, unpaid=[0] * 30 + [60] * 30, paid=0)
    assert young.posts == 40, "the thirty young ones, and ten that leave sixty to the young"
    assert reserve(balance, unpaid=[60] * 5, paid=0) is None
    assert reserve(balance, unpaid=[0] * 80, paid=0).posts == 60
    assert read_balances()[0].left == 0


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        ({"money_a_day": 1}, 200),
        ({"money_a_day": 1, "posts_a_day": 150}, 150),
        ({"posts_a_month": 500}, 500 // 22 + 1),
        ({"money_a_month": 22}, 200),
        ({"posts_a_month": 90, "posts_a_day": 100}, 90),
        ({"money_a_day": 1, "price_of_a_post": 0}, None),
    ],
    ids=str,
)
def test_the_tightest_budget_counts(budget, left):
    """On the tenth of March there are 22 days left in the month."""
    assert balance_at(NOON, **budget).left == left


def test_only_spending_of_the_current_month_counts():
    balance = balance_at(NOON, posts_a_month=1000, posts_a_day=1000)
    for day, posts in ((date(2026, 3, 1), 300), (date(2026, 2, 28), 900)):
        Spending.objects.create(project_id=balance.project, day=day, posts=posts)

    assert read_balances()[0].left == 700


def test_concurrent_reservations_never_exceed_the_balance():
    balance = balance_at(NOON, posts_a_day=1000)
    got = []

    def take():
        try:
            while payment := reserve(balance, unpaid=[0] * 7, paid=0):
                got.append(payment.posts)
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sum(got) == 1000
    assert spent(balance.day) == (0, 1000)


def test_a_request_that_may_arrive_after_midnight_is_reserved_on_both_days():
    late = datetime(2026, 3, 10, 23, 59, 50, tzinfo=UTC)
    balance = balance_at(late, posts_a_day=100)

    payment = reserve(balance, unpaid=[0] * 10, paid=20)

    assert (payment.posts, payment.tomorrow) == (10, 30)
    ledger.settle_payment(payment, posts=9, all_posts=28, x_now=late + timedelta(seconds=3))
    assert spent(date(2026, 3, 10)) == (9, 0)
    assert spent(date(2026, 3, 11)) == (0, 0)
    payment = reserve(balance, unpaid=[0] * 10, paid=20)
    ledger.settle_payment(payment, posts=9, all_posts=28, x_now=late + timedelta(seconds=12))
    assert spent(date(2026, 3, 10)) == (18, 0)
    assert spent(date(2026, 3, 11)) == (28, 0), "X may have billed them on either day"


def test_accounts_are_paid_with_money_and_not_with_tweet_days():
    balance = balance_at(NOON, money_a_day=1, posts_a_day=1)

    assert ledger.reserve_users(balance, 90)
    ledger.settle_users(balance, reserved=90, users=80)

    assert not ledger.reserve_users(balance, 21), "twenty cents are left, at a cent each"
    assert ledger.reserve_users(balance, 20)
    row = Spending.objects.get()
    assert (row.users, row.users_reserved, row.money) == (80, 20, Decimal("0.8"))


def test_a_project_is_usable_with_an_enabled_credential_unless_depleted():
    acme = project()
    assert read_balances()[0].usable

    Project.objects.update(depleted_until=datetime(2100, 1, 1, tzinfo=UTC))
    assert not read_balances()[0].usable
    Project.objects.update(depleted_until=None)
    Credential.objects.get().disable("tired", now=NOON)
    assert not read_balances()[0].usable
    assert acme.name == "p"
