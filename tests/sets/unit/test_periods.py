"""Which period is asked for, and which one it is compared with, by the person's clock."""

from collections import namedtuple
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from trackers.sets.periods import TimeSpan, by_span, custom_period, named_period

UTC_ZONE = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")
KATHMANDU = ZoneInfo("Asia/Kathmandu")
# Its midnights of 26 April 2024 and of others do not exist.
CAIRO = ZoneInfo("Africa/Cairo")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")


def at(text, zone=UTC_ZONE):
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


# name, zone, now; this since, until; before since, until: by the zone's clock.
NAMED = [
    # Seven days until now, and the same weekdays before, until the same hour.
    ("7d", UTC_ZONE, "2026-03-11 15:00",
     "2026-03-05 00:00", "2026-03-11 15:00", "2026-02-26 00:00", "2026-03-04 15:00"),
    ("30d", UTC_ZONE, "2026-03-11 15:00",
     "2026-02-10 00:00", "2026-03-11 15:00", "2026-01-11 00:00", "2026-02-09 15:00"),
    ("90d", KATHMANDU, "2026-03-11 00:10",
     "2025-12-12 00:00", "2026-03-11 00:10", "2025-09-13 00:00", "2025-12-11 00:10"),
    # The clock was put forward on 29 March: the days before are an hour longer in all.
    ("7d", BERLIN, "2026-04-02 09:00",
     "2026-03-27 00:00", "2026-04-02 09:00", "2026-03-20 00:00", "2026-03-26 09:00"),
    # The hour before it did not exist a week ago: an hour later is what its clock would have been.
    ("7d", BERLIN, "2026-04-05 02:30",
     "2026-03-30 00:00", "2026-04-05 02:30", "2026-03-23 00:00", "2026-03-29 03:30"),
    # It was put back on 25 October.
    ("7d", BERLIN, "2026-10-28 12:00",
     "2026-10-22 00:00", "2026-10-28 12:00", "2026-10-15 00:00", "2026-10-21 12:00"),
    ("24h", KATHMANDU, "2026-03-11 09:20",
     "2026-03-10 09:20", "2026-03-11 09:20", "2026-03-09 09:20", "2026-03-10 09:20"),
    # Twenty-four hours, whatever the clock did.
    ("24h", BERLIN, "2026-03-29 12:00",
     "2026-03-28 11:00", "2026-03-29 12:00", "2026-03-27 11:00", "2026-03-28 11:00"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "zone", "now", "since", "until", "earlier", "until_then"), NAMED)
def test_a_period_and_the_one_before(name, zone, now, since, until, earlier, until_then):
    period = named_period(name, zone, now=at(now, zone))

    assert (period.this.since, period.this.until) == (at(since, zone), at(until, zone))
    assert (period.before.since, period.before.until) == (at(earlier, zone), at(until_then, zone))


# since, until, zone, now; then as above.
CUSTOM = [
    # Days that are over are whole.
    ("2026-03-02", "2026-03-04", UTC_ZONE, "2026-03-11 15:00",
     "2026-03-02 00:00", "2026-03-05 00:00", "2026-02-27 00:00", "2026-03-02 00:00"),
    # Of today: the same hours of yesterday.
    ("2026-03-11", "2026-03-11", KATHMANDU, "2026-03-11 15:00",
     "2026-03-11 00:00", "2026-03-11 15:00", "2026-03-10 00:00", "2026-03-10 15:00"),
    # What is yet to come is left out.
    ("2026-03-10", "2026-03-20", UTC_ZONE, "2026-03-11 15:00",
     "2026-03-10 00:00", "2026-03-11 15:00", "2026-03-08 00:00", "2026-03-09 15:00"),
    # Two weeks, with a day of 23 hours in this one.
    ("2026-03-23", "2026-04-05", BERLIN, "2026-05-01 00:00",
     "2026-03-23 00:00", "2026-04-06 00:00", "2026-03-09 00:00", "2026-03-23 00:00"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "last", "zone", "now", "since", "until", "earlier", "until_then"), CUSTOM
)
def test_a_period_of_days(first, last, zone, now, since, until, earlier, until_then):
    days = date.fromisoformat(first), date.fromisoformat(last)

    period = custom_period(*days, zone, now=at(now, zone))

    assert (period.this.since, period.this.until) == (at(since, zone), at(until, zone))
    assert (period.before.since, period.before.until) == (at(earlier, zone), at(until_then, zone))


def test_a_day_begins_when_the_clock_skips_its_midnight():
    now = datetime(2024, 4, 27, 12, tzinfo=UTC)

    period = custom_period(date(2024, 4, 26), date(2024, 4, 26), CAIRO, now=now)

    # At 22:00 UTC the clock went from 24:00 to 1:00, and the day has 23 hours.
    assert period.this.since == datetime(2024, 4, 25, 22, tzinfo=UTC)
    assert period.this.until - period.this.since == timedelta(hours=23)


@pytest.mark.parametrize("zone", [UTC_ZONE, BERLIN, KATHMANDU, CAIRO, LORD_HOWE])
@pytest.mark.parametrize("name", ["24h", "7d", "30d", "90d"])
@pytest.mark.parametrize("now", ["2026-03-29 05:17", "2026-04-05 00:30", "2026-10-25 04:00"])
def test_steps_cover_both_without_a_gap(name, zone, now):
    period = named_period(name, zone, now=at(now, zone))

    for place, whole in ((0, period.this), (1, period.before)):
        steps = [step[place] for step in period.steps]
        assert steps[0].since == whole.since
        assert steps[-1].until == whole.until
        assert all(one.until == following.since for one, following in pairwise(steps))
        assert all(one.since <= one.until for one in steps)
    if not period.is_by_hour:
        assert len(period.steps) == period.days
        for day, _ in period.steps:
            assert not day.since.astimezone(zone).hour


def test_hours_are_full_ones_of_the_zone():
    period = named_period("24h", KATHMANDU, now=at("2026-03-11 09:20", KATHMANDU))

    begins = [step.since.astimezone(KATHMANDU) for step, _ in period.steps]
    assert (begins[0].hour, begins[0].minute) == (9, 20)
    assert [begin.minute for begin in begins[1:]] == [0] * 24
    assert begins[1].astimezone(UTC).minute == 15


def test_posts_that_are_too_young_have_counterparts_that_are_left_out():
    now = at("2026-04-02 09:00", BERLIN)
    period = named_period("7d", BERLIN, now=now)

    old, before = period.old_enough(timedelta(days=1))

    assert (old.since, old.until) == (period.this.since, at("2026-04-01 09:00", BERLIN))
    assert (before.since, before.until) == (period.before.since, at("2026-03-25 09:00", BERLIN))


def test_all_are_old_enough_once_a_period_is_over():
    period = custom_period(
        date(2026, 3, 1), date(2026, 3, 7), BERLIN, now=at("2026-03-08 00:00", BERLIN)
    )
    later = custom_period(
        date(2026, 3, 1), date(2026, 3, 7), BERLIN, now=at("2026-03-09 00:00", BERLIN)
    )

    assert later.old_enough(timedelta(days=1)) == (later.this, later.before)
    assert period.old_enough(timedelta(days=1))[0].until == at("2026-03-07 00:00", BERLIN)


def test_none_is_old_enough_where_the_period_is_younger():
    period = named_period("24h", UTC_ZONE, now=at("2026-03-11 09:20"))

    old, before = period.old_enough(timedelta(days=1))

    assert old.since == old.until
    assert before.since == before.until == period.before.since


@pytest.mark.parametrize(
    ("since", "until", "says"),
    [
        (date(2026, 3, 5), date(2026, 3, 4), "ends before it begins"),
        (date(2026, 3, 12), date(2026, 3, 13), "has not begun yet"),
        (date(2005, 3, 12), date(2026, 3, 13), "2006 or later"),
        (date(2025, 3, 10), date(2026, 3, 11), "at most 366 days"),
    ],
)
def test_a_period_that_cannot_be_says_why(since, until, says):
    now = datetime(2026, 3, 11, 12, tzinfo=UTC)
    with pytest.raises(ValueError, match=says):
        custom_period(since, until, UTC_ZONE, now=now)
    assert custom_period(date(2025, 3, 11), date(2026, 3, 11), UTC_ZONE, now=now).days == 366


def test_items_are_put_into_the_spans_that_they_are_in():
    Item = namedtuple("Item", "at")
    begin = at("2026-03-11 00:00")
    spans = [
        TimeSpan(begin + n * timedelta(hours=2), begin + (n * 2 + 1) * timedelta(hours=1))
        for n in range(3)
    ]
    items = [Item(begin + n * timedelta(minutes=30)) for n in range(-1, 13)]

    inside = by_span(items, spans)

    assert inside == [[item for item in items if item.at in span] for span in spans]
    assert [len(some) for some in inside] == [2, 2, 2]
