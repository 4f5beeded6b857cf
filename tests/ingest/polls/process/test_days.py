"""What a source brought on each day, and what that cost, as the books and X have it."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.ingest.polls.steps import accounts, add, billed, poll, release
from trackers.ingest.sources import days
from trackers.ingest.sources.days import cost_of, days_of
from trackers.ingest.sources.models import SourceDay
from trackers.money.models import Project, Spending

pytestmark = pytest.mark.django_db(transaction=True)


def test_polls_count_new_posts_and_their_cost(x):
    id, username = accounts(x, 1)[0]
    source = add("account", username)
    Project.objects.update(price_of_a_post=Decimal("0.004"))
    release(x, authors=[id], count=130)
    poll(source)
    release(x, authors=[id], count=20)
    poll(source)

    rows = SourceDay.objects.filter(source=source)

    assert sum(one.posts for one in rows) == source.yielded > 100
    assert sum(one.again for one in rows) == source.again
    paid = sum(one.billed for one in rows)
    assert paid == sum(one.posts for one in Spending.objects.all()) == billed(x)
    assert sum(one.money for one in rows) == paid * Decimal("0.004")


def test_costs_are_shown_by_day_and_by_new_post():
    source = add("account", "nasa")
    today = timezone.now().date()
    fields = {"again": 1, "late": 0}
    for back, posts, money in ((9, 30, "0.2"), (0, 10, "0.1")):
        SourceDay.objects.create(
            source=source, day=today - timedelta(days=back), posts=posts, billed=posts,
            money=Decimal(money), **fields,
        )  # fmt: skip

    cost = cost_of(days_of(source.pk, since=today - timedelta(days=20)), today=today)

    assert (cost.days, cost.posts, cost.billed) == (10, 40, 40)
    assert cost.a_day == Decimal("0.03")
    assert cost.a_post == Decimal("0.0075")
    assert cost_of([], today=today) is None


def test_days_are_pruned_after_three_months_and_deleted_with_their_source():
    source = add("account", "nasa")
    today = timezone.now().date()
    for back in (100, 93, 92, 0):
        SourceDay.objects.create(source=source, day=today - timedelta(days=back))

    assert days.prune_days(today=today) == 2
    assert SourceDay.objects.count() == 2
    source.delete()
    assert not SourceDay.objects.exists()
