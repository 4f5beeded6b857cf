"""When a digest comes: by the clock of a person, on each of its days once."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from trackers.alerts.rhythm import Every, Weekday, days_told, last_occasion

MONDAY, FRIDAY = Weekday.MONDAY, Weekday.FRIDAY


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "every", "weekday", "hour", "now", "day"),
    [
        ("UTC", Every.DAY, MONDAY, 7, "2026-03-05T06:59", (3, 4)),
        ("UTC", Every.DAY, MONDAY, 7, "2026-03-05T07:00", (3, 5)),
        # 7:00 in Kathmandu is 1:15 UTC, and in St John's 10:30.
        ("Asia/Kathmandu", Every.DAY, MONDAY, 7, "2026-03-05T01:14", (3, 4)),
        ("Asia/Kathmandu", Every.DAY, MONDAY, 7, "2026-03-05T01:15", (3, 5)),
        ("America/St_Johns", Every.DAY, MONDAY, 7, "2026-03-05T10:29", (3, 4)),
        ("America/St_Johns", Every.DAY, MONDAY, 7, "2026-03-05T10:30", (3, 5)),
        # Midnight belongs to the day that begins.
        ("Asia/Kathmandu", Every.DAY, MONDAY, 0, "2026-03-05T18:15", (3, 6)),
        # 2:00 to 3:00 is missing on 8 March in St John's: it comes at what is 3:30 there.
        ("America/St_Johns", Every.DAY, MONDAY, 2, "2026-03-08T05:29", (3, 7)),
        ("America/St_Johns", Every.DAY, MONDAY, 2, "2026-03-08T05:30", (3, 8)),
        # 1:00 to 2:00 comes twice on 1 November: the first counts.
        ("America/St_Johns", Every.DAY, MONDAY, 1, "2026-11-01T03:29", (10, 31)),
        ("America/St_Johns", Every.DAY, MONDAY, 1, "2026-11-01T03:30", (11, 1)),
        ("America/St_Johns", Every.DAY, MONDAY, 1, "2026-11-01T04:30", (11, 1)),
        # Its clock is put by half an hour: 2:00 is missing in October; 1:45 comes twice in April.
        ("Australia/Lord_Howe", Every.DAY, MONDAY, 2, "2026-10-03T15:29", (10, 3)),
        ("Australia/Lord_Howe", Every.DAY, MONDAY, 2, "2026-10-03T15:30", (10, 4)),
        ("Australia/Lord_Howe", Every.DAY, MONDAY, 2, "2026-04-04T15:29", (4, 4)),
        ("Australia/Lord_Howe", Every.DAY, MONDAY, 2, "2026-04-04T15:30", (4, 5)),
        # Where midnight is missing, in Havana on 8 March.
        ("America/Havana", Every.DAY, MONDAY, 0, "2026-03-08T04:59", (3, 7)),
        ("America/Havana", Every.DAY, MONDAY, 0, "2026-03-08T05:00", (3, 8)),
        # The 7th and 8th are a weekend.
        ("UTC", Every.WEEKDAY, MONDAY, 7, "2026-03-08T12:00", (3, 6)),
        ("UTC", Every.WEEKDAY, MONDAY, 7, "2026-03-09T06:59", (3, 6)),
        ("UTC", Every.WEEKDAY, MONDAY, 7, "2026-03-09T07:00", (3, 9)),
        # It is Monday in Kathmandu, and Sunday in UTC.
        ("Asia/Kathmandu", Every.WEEKDAY, MONDAY, 0, "2026-03-08T18:15", (3, 9)),
        ("UTC", Every.WEEK, FRIDAY, 7, "2026-03-06T06:59", (2, 27)),
        ("UTC", Every.WEEK, FRIDAY, 7, "2026-03-06T07:00", (3, 6)),
        ("UTC", Every.WEEK, FRIDAY, 7, "2026-03-12T23:59", (3, 6)),
    ],
)
def test_a_digest_comes_by_the_clock_of_its_person(zone, every, weekday, hour, now, day):
    latest = last_occasion(every, weekday, hour, ZoneInfo(zone), now=at(now))

    assert latest == date(2026, *day)


@pytest.mark.parametrize("zone", ["America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe"])
@pytest.mark.parametrize("hour", [0, 1, 2, 3, 23])
def test_each_local_day_of_a_year_has_one_digest(zone, hour):
    """Asked each quarter of an hour, as a worker asks each minute."""
    begin, there = at("2026-01-01T00:00"), ZoneInfo(zone)
    seen = [
        last_occasion(Every.DAY, MONDAY, hour, there, now=begin + timedelta(minutes=15 * step))
        for step in range(365 * 96)
    ]

    assert seen == sorted(seen), "no day comes back"
    days = sorted(set(seen))
    assert days == [days[0] + timedelta(days=place) for place in range(len(days))], (
        "none is left out"
    )


def test_the_digest_of_a_monday_has_the_weekend():
    week = [date(2026, 3, day) for day in range(9, 14)]

    assert [days_told(Every.WEEKDAY, day) for day in week] == [3, 1, 1, 1, 1]
    assert {days_told(Every.DAY, day) for day in week} == {1}
    assert {days_told(Every.WEEK, day) for day in week} == {7}
