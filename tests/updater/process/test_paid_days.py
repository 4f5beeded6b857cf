"""Where money is short, the save closes a paid day, and begins a new one later."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import TweetFactory
from tests.flows.fake_time import FakeTime
from tests.updater.db.test_adapting import answer_for, claimed, waits
from trackers.dashboards.tweets.curve import curve
from trackers.schedule import intervals
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.intervals import Plan, Tier
from trackers.schedule.paid_days import across_days
from trackers.tweets.models import Tweet
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict
from trackers.xapi.results import Figures
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
BOUNDS = Bounds(0.05, 20, 4 * 86400)
TODAY = datetime(2027, 3, 10, tzinfo=UTC)


def plan_of(day_stretch, *, bounds: Bounds | None = BOUNDS, jitter=0.0):
    return Plan((Tier(30 * DAY, 2 * DAY, jitter, bounds),), day_stretch=day_stretch)


@pytest.fixture
def clock(fakex):
    def turn(**since_midnight):
        return FakeTime(fakex, start=TODAY + timedelta(**since_midnight))

    yield turn
    fakex.put("clock", {"ahead_s": 0})


def tweets(many, now):
    """Of all ages, measured a while ago."""
    chance = random.Random(7)
    return [
        TweetFactory(
            id=id,
            created_at=now - chance.uniform(0.01, 29) * DAY,
            measurements=1,
            taken_at=now - HOUR,
            measured_until=now - HOUR / 7,
            pace=chance.choice([0, 1e-6, 1e-4]),
        )
        for id in range(1, many + 1)
    ]


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (12, {"as ever", "closed", "later"}),
        (22, {"as ever", "closed", "later"}),
        (23.97, {"later"}),
    ],
)
def test_due_times_equal_those_of_the_rule(clock, hours, expected):
    clock(hours=hours)
    now = intervals.current()[0]
    ids = [one.pk for one in tweets(60, now)]
    batch = claimed(*ids)

    save_batch(batch, [Judged(answer_for(batch, views=50), at=now)], plan_of(3.0))

    saved = intervals.current()[0]
    wait_by_id = waits(saved)
    kinds = set()
    for tweet in Tweet.objects.all():
        age = (now - tweet.created_at).total_seconds()
        wait = adapted_wait(age, tweet.pace, BOUNDS)
        rule = [
            across_days(
                saved.timestamp(), wait, day_stretch=3, longest=3 * 4 * 86400, chance=chance / 1000
            )
            for chance in range(1001)
        ]
        # Of any chance; a pace is a float of four bytes, and a due time a whole second.
        assert min(abs(wait_by_id[tweet.pk] - each) / max(30, wait / 1000) for each in rule) < 1
        kinds.add("as ever" if max(rule) == wait else "later" if min(rule) > wait else "closed")
    assert kinds >= expected


def test_with_fixed_rows_only_due_times_are_unchanged(clock):
    """The same seed, the same schedule, however short the money is."""
    clock(hours=23)
    now = intervals.current()[0]
    ids = [one.pk for one in tweets(20, now)]
    due = []
    for day_stretch in (1.0, 5.0):
        random.seed(3)
        batch = claimed(*ids)
        with cursor() as db:
            db.execute("SELECT setseed(0.3)")
        plan = plan_of(day_stretch, bounds=None, jitter=0.2)
        save_batch(batch, [Judged(answer_for(batch), at=now)], plan)
        began = intervals.current()[0]
        due.append(waits(began))

    assert due[0] == {id: pytest.approx(wait, abs=5) for id, wait in due[1].items()}


def test_with_enough_money_adapting_rows_are_unchanged(clock):
    """A look just after midnight, and one a moment before it: nothing is closed or put off."""
    clock(hours=23.9)
    now = intervals.current()[0]
    ids = [one.pk for one in tweets(40, now)]
    batch = claimed(*ids)

    save_batch(batch, [Judged(answer_for(batch, views=50), at=now)], plan_of(1.0))

    found = waits(now)
    for one in Tweet.objects.all():
        wait = adapted_wait((now - one.created_at).total_seconds(), one.pace, BOUNDS)
        assert wait - 1 <= found[one.pk] <= 1.001 * wait + 60


def test_an_edited_tweet_is_looked_up_again_at_once(clock):
    clock(hours=23.95)
    now = intervals.current()[0]
    for id in (1, 2):
        TweetFactory(id=id, created_at=now - 10 * DAY)
    batch = claimed(1, 2)
    figures = Figures(0, 0, 0, 0, 0, 0)
    soon, usual = Verdict(1, 30 * SECOND, figures), Verdict(2, 4 * DAY, figures)

    save_batch(batch, [Judged([soon, usual], at=now)], plan_of(3.0))

    assert waits(now)[1] < 90
    assert waits(now)[2] > 3 * DAY.total_seconds()


def test_a_gap_in_a_curve_begins_only_after_the_longest_wait():
    plan = plan_of(2.0)

    assert plan.hole_after(plan.tiers[0]) == 2 * 2 * 4 * DAY
    assert plan_of(100.0).hole_after(plan.tiers[0]) == 2 * 3 * 4 * DAY


def test_a_wait_planned_at_another_stretch_is_no_gap():
    """The budget was raised meanwhile: neither is the run closed, nor is a hole drawn."""
    now, plan = intervals.current()[0], plan_of(1.0, jitter=0.05)
    waited = 1.05 * 3 * 4 * DAY + 5 * SECOND
    at = now - waited
    for id in (1, 2):
        TweetFactory(
            id=id,
            created_at=now - 29 * DAY,
            measurements=3,
            taken_at=at - 9 * DAY,
            measured_until=at,
            **dict.fromkeys(("retweets", "replies", "likes", "quotes", "bookmarks"), 0),
            views=id - 1,
        )
    batch = claimed(1, 2)
    nothing = Figures(0, 0, 0, 0, 0, 0)

    save_batch(batch, [Judged([Verdict(id, DAY, nothing, plan.hole_after(plan.tiers[0]))
                         for id in (1, 2)], at=now)], plan)  # fmt: skip

    kept, changed = Tweet.objects.order_by("id")
    assert kept.measurements == 4
    assert curve(changed, plan, range="all", now=now).holes == frozenset()
    # Three times as long is one, whatever the stretch was.
    assert 3 * 4 * DAY < plan.hole_after(plan.tiers[0]) < 4 * 4 * DAY
