"""One reservation for many requests: each is paid for, answered and counted on its own."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import CredentialFactory
from tests.money.process.test_ledger import NOON, balance_at, reserve, spent
from trackers.money import ledger
from trackers.money.balances import read_balances
from trackers.money.ledger import Payment, Settlement
from trackers.money.models import Project, Spending

pytestmark = pytest.mark.django_db
LATE = datetime(2026, 3, 10, 23, 59, 50, tzinfo=UTC)
TODAY, TOMORROW = date(2026, 3, 10), date(2026, 3, 11)


def test_parts_sum_to_the_reservation():
    balance = balance_at(LATE, posts_a_day=1000)
    payment = reserve(balance, unpaid=[0] * 150, paid=100)

    parts = payment.parts([(100, 100), (50, 100), (0, 50)])

    assert [(part.posts, part.tomorrow) for part in parts] == [(100, 100), (50, 100), (0, 50)]
    assert {(part.project, part.day, part.reply_by) for part in parts} == {
        (payment.project, payment.day, payment.reply_by)
    }


def test_during_the_day_nothing_is_reserved_for_the_next_day():
    payment = reserve(balance_at(NOON), unpaid=[0] * 150, paid=50)

    assert [part.tomorrow for part in payment.parts([(100, 100), (50, 100)])] == [0, 0]


@pytest.mark.parametrize("sizes", [[(100, 100)], [(150, 100), (0, 101)], [(151, 200)]])
def test_parts_with_a_wrong_sum_are_refused(sizes):
    payment = Payment(1, TODAY, 150, reply_by=0.0, tomorrow=200)

    with pytest.raises(ValueError, match="150 and 200 tweet-days are reserved"):
        payment.parts(sizes)


def test_each_part_is_settled_by_its_own_reply():
    balance = balance_at(NOON, posts_a_day=1000)
    payment = reserve(balance, unpaid=[0] * 400, paid=0)
    answered, failed, unsure, under_way = payment.parts([(100, 100)] * 4)

    ledger.settle_all(
        [Settlement(answered, posts=90, all_posts=95, x_now=NOON), Settlement(failed)]
    )
    assert spent(TODAY) == (90, 200)
    ledger.count_as_billed(unsure)

    assert spent(TODAY) == (190, 100)
    assert read_balances()[0].left == 1000 - 190 - 100
    assert Spending.objects.get().money == Decimal("0.95")
    ledger.cancel(under_way)
    assert spent(TODAY) == (190, 0)


def test_replies_around_midnight_are_billed_on_their_own_days():
    balance = balance_at(LATE, posts_a_day=1000)
    payment = reserve(balance, unpaid=[0] * 150, paid=50)
    before, after, lost = payment.parts([(100, 100), (40, 80), (10, 20)])

    ledger.settle_all(
        [
            Settlement(before, posts=98, all_posts=98, x_now=LATE + timedelta(seconds=9)),
            Settlement(after, posts=39, all_posts=77, x_now=LATE + timedelta(seconds=11)),
        ]
    )

    assert spent(TODAY) == (98 + 39, 10)
    assert spent(TOMORROW) == (77, 20), "X may have billed what came after it on either day"
    ledger.count_as_billed(lost)
    assert spent(TODAY) == (98 + 39 + 10, 0)
    assert spent(TOMORROW) == (77 + 20, 0)


def test_projects_pay_for_their_own_requests():
    balance_at(NOON)
    CredentialFactory(name="q")
    mine, theirs = (Payment(one.pk, TODAY, 10, reply_by=0.0) for one in Project.objects.all())

    ledger.settle_all([Settlement(theirs, posts=7), Settlement(mine, posts=9)])

    assert {*Spending.objects.values_list("project_id", "posts")} == {
        (mine.project, 9),
        (theirs.project, 7),
    }


replies = st.none() | st.sampled_from([LATE, LATE + timedelta(seconds=11)])
settlements = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100), replies),
    min_size=1,
    max_size=3,
)


@settings(max_examples=40)
@given(settlements, st.integers(0, 300), st.booleans())
def test_settling_together_equals_settling_one_by_one(each, reserved, is_late):
    """Also when a crash of the database forgot what was reserved, or a part of it."""
    project, _ = Project.objects.get_or_create(name="p")
    ways = []

    def settle(*several):
        Spending.objects.all().delete()
        Spending.objects.create(project=project, day=TODAY, posts=5, posts_reserved=reserved)
        for one in several:
            ledger.settle_all(one)
        ways.append(
            [
                *Spending.objects.order_by("day").values_list(
                    "day", "posts", "posts_reserved", "money"
                )
            ]
        )

    of_each = [
        Settlement(
            Payment(project.pk, TODAY, posts, reply_by=0.0, tomorrow=posts if is_late else 0),
            posts=billed, all_posts=shown, x_now=x_now,
        )
        for posts, billed, shown, x_now in each
    ]  # fmt: skip
    settle(of_each)
    for order in permutations(of_each):
        settle(*[[one] for one in order])

    assert all(way == ways[0] for way in ways)
