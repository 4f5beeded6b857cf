"""Each reason for a next look once, on the page itself: without scripts, and before axe."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from tests.factories import IntervalFactory, TweetFactory, TweetUpdateFactory
from tests.pages.browser.test_axe import DESK, PHONE, faults
from tests.pages.looking import looking
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.explanation import (
    CLOSES,
    DAY_START,
    EARLIER,
    EVENING_RELEASE,
    PUT_OFF,
    TOMORROW,
    ExplainedWait,
)
from trackers.schedule.intervals import current
from trackers.schedule.models import Interval, Stretch
from trackers.updater.models import TweetUpdate

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
# Of tweets older than a day; the younger ones are looked at every hour.
ADAPTS = Bounds(0.05, 300, 6 * 3600)
MONTH = Bounds(0.05, 900, 4 * 86400)
# How much longer X's windows make each wait.
WINDOWS = 1.4


def looked_at(id, at, *, age, due, pace=0.0):
    TweetFactory(
        id=id,
        created_at=at - age,
        measurements=3,
        taken_at=at,
        measured_until=at,
        likes=5,
        pace=pace,
    )
    TweetUpdateFactory(key=id, due_at=due)


def plan_that_adapts():
    """With short windows and little money, so that waits are longer than usual."""
    Interval.objects.all().delete()
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0)
    for younger_than, bounds in ((7 * DAY, ADAPTS), (30 * DAY, MONTH)):
        IntervalFactory(
            younger_than=younger_than,
            every=HOUR,
            jitter=0,
            accuracy=bounds.accuracy,
            at_most=bounds.at_most * SECOND,
            at_least=bounds.at_least * SECOND,
        )
    Stretch.objects.create(
        pk=1, windows=WINDOWS, demand=10.0, room=8.35, money=3.0, days_demand=100.0, days_room=25.0
    )


@pytest.fixture
def explained():
    """A tweet for each sentence, by its id."""
    plan_that_adapts()
    now, _ = current()
    collected = {}

    def usual(sentence, pace, *, age=2 * DAY, times=1.0, bounds=ADAPTS):
        of = age.total_seconds(), pace, bounds
        wait = times * adapted_wait(*of)
        given = {"age": age, "pace": pace, "due": now + wait * SECOND}
        looked_at(len(collected) + 1, now, **given)
        waiting = ExplainedWait(age.total_seconds(), pace, wait, now.timestamp())
        # At some times of the day one of them is moved up to the day's last looks.
        closes = waiting.closes_the_day and wait < 0.99 * adapted_wait(*of, WINDOWS)
        collected[len(collected) + 1] = CLOSES if closes else sentence

    looked_at(1, now, age=2 * HOUR, due=now + HOUR)
    collected[1] = "tweets younger than 1 day are checked every hour."
    looked_at(2, now, age=2 * HOUR, due=now + 2 * HOUR)
    collected[2] = f"{PUT_OFF}."
    usual("it grows by 2% an hour, and 5% may be missed.", 0.02 / 3600)
    usual("it grows by 60% a minute, and the shortest interval is 5 minutes.", 0.6 / 60)
    usual("its figures hardly change, and the longest interval is 6 hours.", 0.0, age=6 * DAY)
    usual(EARLIER, 0.02 / 3600, times=0.2)
    usual(
        "it grows by 50% an hour; the wait is 1.4 times the usual, since X's windows have"
        " room for 71% of the look-ups",
        0.5 / 3600,
        times=WINDOWS,
    )
    usual(
        "its figures hardly change; the wait is 2.0 times the usual, since X's windows have"
        " room for 71% of the look-ups and the budgets allow 25% of the tweet-days.",
        0.0,
        age=20 * DAY,
        times=2.0,
        bounds=MONTH,
    )
    day = datetime.combine((now + HOUR).date(), datetime.min.time(), UTC)
    given = {"age": 20 * DAY, "due": day + timedelta(hours=23, minutes=40)}
    looked_at(len(collected) + 1, day + HOUR / 2, **given)
    collected[len(collected) + 1] = CLOSES
    midnight = datetime.combine(now.date() + DAY, datetime.min.time(), UTC)
    money = {
        TOMORROW: midnight + HOUR,
        EVENING_RELEASE: midnight - SECOND,
        DAY_START: midnight - DAY + HOUR / 10,
    }
    for sentence, due in money.items():
        looked_at(len(collected) + 1, now, age=20 * DAY, due=due)
        collected[len(collected) + 1] = sentence
    waiting = list(collected)[-len(money) :]
    TweetUpdate.objects.filter(key__in=waiting).update(for_money_until=F("due_at"))
    return collected


def test_each_explanation_is_shown_without_scripts_and_without_axe_violations(
    staff, live_server, explained
):
    with looking(staff, live_server, java_script_enabled=False) as seen:
        for id, sentence in explained.items():
            seen.page.goto(f"{seen.address}/tweets/{id}/")
            why = seen.page.get_by_text("Why then:").first
            for size in (PHONE, DESK):
                seen.page.set_viewport_size(size)
                assert why.is_visible(), (sentence, size)
                assert f"Why then: {sentence}" in " ".join(why.inner_text().split())

    collected = []
    with looking(staff, live_server, viewport=PHONE) as seen:
        for id in explained:
            seen.page.goto(f"{seen.address}/tweets/{id}/")
            ours = len(seen.faults)
            # What is around a sentence is the same for all.
            within = "html" if id == 1 else ".when"
            for size in (DESK, PHONE):
                collected += faults(seen.page, f"/tweets/{id}/", within=within)
                seen.page.set_viewport_size(size)
            # axe looks for styles in ways that the pages' policy refuses.
            del seen.faults[ours:]
    assert collected == [], "\n".join(collected)
