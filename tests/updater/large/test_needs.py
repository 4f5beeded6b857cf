"""What the day needs: exact of few, a sample of many, and never a walk over all that wait."""

import math
from collections import Counter
from datetime import timedelta

import pytest

from tests.factories import AppFactory, CredentialFactory, ProjectFactory, TweetFactory
from tests.large_tables import QUEUE, TWEETS, fill, fill_what_was_drained, reading
from trackers.credentials.models import Credential
from trackers.money.balances import read_balances
from trackers.money.models import Project
from trackers.schedule import intervals
from trackers.tweets.models import Tweet
from trackers.updater import needs as estimating
from trackers.updater.models import TweetUpdate
from trackers.updater.needs import dry_at, read_needs
from trackers.updater.rationing import ration_projects

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


def needed():
    now, plan = intervals.current()
    balance = read_balances()[0]
    return read_needs(plan, now=now, day=balance.day, next_day=balance.next_day())


def by_tier(found, payer):
    tiers = Counter()
    for one in found.unpaid:
        if one.paid_by == payer:
            tiers[one.tier] += one.count
    return dict(tiers)


@pytest.fixture
def projects():
    """Three that can ask, with money for a tenth of what the tests track."""
    made = [ProjectFactory(name=f"p{n}", posts_a_day=200) for n in range(3)]
    for one in made:
        CredentialFactory(app=AppFactory(project=one))
    return [one.pk for one in made]


def test_few_tweets_are_counted_by_payer_and_tier(projects):
    fill(6000, payers=[projects[0], None])
    # A tweet is in the first tier whose bound it has not reached.
    bounds = [DAY / 80, DAY / 24, DAY, 7 * DAY, 30 * DAY]
    now, _ = intervals.current()
    true = Counter(
        next(tier for tier, bound in enumerate(bounds) if now - born < bound)
        for born in Tweet.objects.filter(paid_by=None).values_list("created_at", flat=True)
    )

    estimate = needed()

    assert by_tier(estimate, None) == pytest.approx(dict(true), abs=1)
    assert sum(one.variance for one in estimate.unpaid) == 0
    assert estimate.arrivals == pytest.approx(6000 / 29, abs=2)


def test_tweets_paid_today_are_not_needed(projects):
    fill(8)
    today = read_balances()[0].day
    paid, gone, tomorrows, over = TweetUpdate.objects.order_by("key").values_list("key", flat=True)[
        :4
    ]
    Tweet.objects.filter(id=paid).update(paid_on=today)
    Tweet.objects.filter(id=gone).update(gone_at="2026-01-01T00:00Z")
    TweetUpdate.objects.filter(key=tomorrows).update(due_at=read_balances()[0].next_day() + DAY)
    TweetUpdate.objects.filter(key=over).delete()

    assert sum(one.count for one in needed().unpaid) == 4


def test_a_tweet_never_looked_up_has_the_age_of_its_id(projects):
    fill(1)
    Tweet.objects.update(created_at=None, id=Tweet.objects.get().id)

    assert by_tier(needed(), None) == {4: 1}


@pytest.mark.parametrize("drawn", [30_000, 400], ids=["by the index", "cut by its limit"])
def test_older_ones_of_many_tweets_are_estimated_within_the_margin(projects, monkeypatch, drawn):
    monkeypatch.setattr(estimating, "COUNTED_EXACTLY", 1000)
    monkeypatch.setattr(estimating, "MAX_SAMPLE", drawn)
    fill(40_000, payers=[*projects, None])

    estimate = needed()

    for payer in (*projects, None):
        mine = [one for one in estimate.unpaid if one.paid_by == payer]
        deviation = math.sqrt(sum(one.variance for one in mine))
        assert 0 < deviation < 2000
        assert abs(sum(one.count for one in mine) - 10_000) < 5 * deviation
    young = sum(one.count for one in estimate.unpaid if one.tier <= 1)
    assert young == pytest.approx(40_000 / 29 / 24, abs=1), "the youngest are counted, not drawn"


@pytest.mark.parametrize("filled", [fill, fill_what_was_drained])
def test_a_run_reads_as_much_of_the_queue_for_any_number_of_tweets_and_payers(
    projects, monkeypatch, filled
):
    monkeypatch.setattr(estimating, "COUNTED_EXACTLY", 1000)
    monkeypatch.setattr(estimating, "MAX_SAMPLE", 1000)
    filled(60_000, payers=[*projects, None])
    now, plan = intervals.current()

    with reading() as read:
        assert ration_projects(plan, now=now) == ["p0", "p1", "p2"]

    assert read.walked == {TWEETS: 0, QUEUE: 0}
    assert read.found[QUEUE] <= 2000
    assert read.found[TWEETS] <= 2000


def test_money_runs_out_when_as_many_are_due_as_are_paid_for():
    now, _ = intervals.current()
    due = [(0, 10.0), (3, 20.0), (9, 5.0)]

    assert dry_at(due, 20, now=now) == now + timedelta(minutes=35)
    assert dry_at(due, 0, now=now) == now
    assert dry_at(due, 35, now=now) is None


def test_a_project_without_tweets_gets_its_share_of_the_new_ones(projects):
    fill(600, payers=[projects[0], None])
    now, plan = intervals.current()

    ration_projects(plan, now=now)

    rest_of_day = (read_balances()[0].next_day() - read_balances()[0].now) / DAY
    new = 600 / 29 * rest_of_day / 3
    first, second, _ = Project.objects.order_by("pk")
    assert first.needs == pytest.approx(300 + 100 + new, abs=3)
    assert second.needs == pytest.approx(100 + new, abs=3)


def test_new_tweets_go_to_a_project_without_a_budget(projects):
    fill(600, payers=[projects[0], None])
    now, plan = intervals.current()
    Project.objects.filter(pk=projects[2]).update(posts_a_day=None)

    short = ration_projects(plan, now=now)

    first, second, unlimited = Project.objects.order_by("pk")
    assert first.needs == pytest.approx(300, abs=1)
    assert (second.needs, second.waiting) == (0, 0)
    assert unlimited.needs is None
    assert short == ["p0"]


def test_new_tweets_are_counted_only_for_projects_that_can_pay(projects):
    fill(600, payers=[projects[0], None])
    now, plan = intervals.current()
    Credential.objects.filter(app__project=projects[0]).update(disabled_at=now)

    short = ration_projects(plan, now=now)

    rest_of_day = (read_balances()[0].next_day() - read_balances()[0].now) / DAY
    new = 600 / 29 * rest_of_day / 2
    first, second, third = Project.objects.order_by("pk")
    # Its own, for when it can pay again; meanwhile the others pay for these, too.
    assert first.needs == pytest.approx(300, abs=1)
    assert second.needs == third.needs == pytest.approx(150 + 150 + new, abs=3)
    assert short == ["p1", "p2"]


def test_while_x_refuses_the_project_without_a_budget_the_others_expect_a_share(projects):
    fill(600, payers=[projects[0], None])
    now, plan = intervals.current()
    Project.objects.filter(pk=projects[2]).update(posts_a_day=None)
    Credential.objects.filter(app__project=projects[2]).update(
        refused=1, retry_at=now + timedelta(minutes=1)
    )

    ration_projects(plan, now=now)

    assert Project.objects.get(pk=projects[1]).needs >= 99


def test_an_empty_queue_needs_nothing(projects):
    TweetFactory()

    assert needed().unpaid == []
    assert needed().arrivals == 0
