"""The stretches of the last day, and the sentences that say what they are and why."""

from datetime import UTC, datetime, timedelta

from trackers.schedule import intervals
from trackers.schedule.adapt import Bounds
from trackers.schedule.intervals import Plan, Tier
from trackers.schedule.models import Stretch, StretchMinute
from trackers.schedule.stretch.history import by_time, prune_stretches, record_stretch
from trackers.schedule.stretch.words import (
    ALL_FIXED,
    MONEY_FOR_ALL,
    NO_BUDGET,
    NO_WINDOWS,
    NOT_COMPUTED,
    ROOM_FOR_ALL,
    sentences,
)
from trackers.tasks import stretch_intervals

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
ADAPTS = Plan((Tier(DAY, HOUR, bounds=Bounds(0.05, 60, 3600)), Tier(30 * DAY, DAY)))
TWO = Plan((*ADAPTS.tiers[:1], Tier(30 * DAY, DAY, bounds=Bounds(0.1, 900, 86400))))


def sentences_of(plan=ADAPTS, **given):
    row = {"windows": 1.0, "money": 1.0, "taken_at": datetime(2026, 6, 10, tzinfo=UTC), **given}
    return list(sentences(plan, Stretch(**row)))


def test_fixed_rows_are_never_stretched():
    assert sentences_of(Plan((Tier(DAY, HOUR),)), windows=3.0) == [ALL_FIXED]


def test_no_stretch_is_described_before_the_first_computation():
    assert list(sentences(ADAPTS, None)) == [NOT_COMPUTED]


def test_without_limits_the_description_names_what_is_unknown():
    assert sentences_of() == [NO_WINDOWS, NO_BUDGET, "Accuracy: 5% asked, and kept."]


def test_enough_windows_and_money_are_described():
    found = sentences_of(room=10.0, demand=2.0, days_room=100.0, days_demand=50.0)

    assert found[:2] == [ROOM_FOR_ALL, MONEY_FOR_ALL]


def test_a_stretch_is_described_with_reason_and_effect_on_accuracy():
    results = sentences_of(
        windows=1.4, money=1.8, room=10.0, demand=12.0,
        days_room=62.0, days_demand=100.0, budget="acme: tweet-days a UTC day",
    )  # fmt: skip

    assert results == [
        "Waits are 1.4 × as long, since X's windows have room for 71% of the look-ups.",
        "Waits that end on another UTC day are 1.8 × as long, since the budgets have money for "
        "62% of the tweet-days (acme: tweet-days a UTC day).",
        "Accuracy: 5% asked, 7% at this stretch.",
    ]


def test_rows_may_ask_for_different_accuracies():
    assert sentences_of(TWO, windows=1.25, room=10.0, demand=12.0)[-1] == (
        "Accuracy: 5% to 10% asked, 6.2% to 12% at this stretch."
    )


def test_overdue_checks_alone_can_be_the_reason():
    assert (
        "to make up for 5,000 overdue look-ups"
        in sentences_of(windows=1.2, room=10.0, demand=2.0, backlog=5000)[0]
    )


def test_an_insufficient_stretch_is_described():
    assert "the oldest are late" in sentences_of(windows=1000.0, room=1.0, demand=100.0)[0]
    assert sentences_of(
        money=100.0, days_room=60.0, days_demand=100.0, budget="acme: dollars a month"
    )[1] == (
        "The budgets have money for 60% of the tweet-days (acme: dollars a month), fewer than the "
        "intervals need at least, so the oldest tweets wait for another UTC day."
    )
    assert "are 40 × as long" in sentences_of(money=40.0, days_room=60.0, days_demand=100.0)[1]


def test_the_largest_stretch_of_each_half_hour_is_kept_for_a_day():
    now, _ = intervals.current()
    began = now.replace(minute=0, second=0, microsecond=0)
    for back, windows, money in ((3 * HOUR, 1.5, 1.0), (3 * HOUR - 10 * MINUTE, 1.1, 2.0)):
        record_stretch(Stretch(windows=windows, money=money, taken_at=began - back))
    record_stretch(Stretch(windows=1.2, money=1.0, taken_at=began - 3 * HOUR))
    StretchMinute.objects.create(minute=now - 26 * HOUR, windows=9, money=9)

    [found] = by_time(over=DAY, step=30 * MINUTE)

    assert (found.at, found.windows, found.money) == (began - 3 * HOUR, 1.5, 2.0)
    assert prune_stretches() == 1


def test_each_minute_stores_a_row():
    stretch_intervals()
    stretch_intervals()

    [row] = StretchMinute.objects.all()
    assert (row.windows, row.money) == (1.0, 1.0)
