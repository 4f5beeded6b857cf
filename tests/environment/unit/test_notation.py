"""Times as a person reads them: each zone, both changes of the clock, each order of a date."""

from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tweetwatch import notation
from tweetwatch.clock_times import clock_time
from tweetwatch.notation import Notation

AT = datetime(2026, 3, 4, 18, 5, 9, tzinfo=UTC)


def written(use, at=AT, **chosen):
    """In a context of its own, so that no other test reads it."""

    def write():
        notation.use(Notation(**chosen))
        return use(at)

    return copy_context().run(write)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-03-04 18:05:09 UTC"),
        ("Europe/London", "2026-03-04 18:05:09 UTC"),
        ("Asia/Kathmandu", "2026-03-04 23:50:09 UTC+5:45"),
        ("Asia/Tokyo", "2026-03-05 03:05:09 UTC+9"),
        ("America/St_Johns", "2026-03-04 14:35:09 UTC−3:30"),
    ],
)
def test_a_time_has_the_zone_of_its_reader_and_how_far_it_is_from_utc(zone, text):
    assert written(notation.exactly, zone=ZoneInfo(zone)) == text


def test_each_side_of_a_change_of_the_clock_has_its_own_offset():
    """The hour that comes twice is told apart by it."""
    hours = [datetime(2026, 11, 1, hour, 30, tzinfo=UTC) for hour in (5, 6)]
    before = [datetime(2026, 3, 29, hour, 30, tzinfo=UTC) for hour in (0, 1)]

    autumn = [
        written(notation.to_the_minute, at, zone=ZoneInfo("America/New_York")) for at in hours
    ]
    spring = [written(notation.time_of_day, at, zone=ZoneInfo("Europe/Berlin")) for at in before]

    assert autumn == ["2026-11-01 01:30 UTC−4", "2026-11-01 01:30 UTC−5"]
    assert spring == ["01:30 UTC+1", "03:30 UTC+2"]


@pytest.mark.parametrize(
    ("dates", "hours", "text"),
    [
        ("ymd", 24, "2026-03-04 18:05:09 UTC"),
        ("dmy", 24, "4 Mar 2026 18:05:09 UTC"),
        ("mdy", 12, "Mar 4, 2026 6:05:09 PM UTC"),
    ],
)
def test_a_date_is_written_in_the_order_of_its_reader(dates, hours, text):
    assert written(notation.exactly, dates=dates, hours=hours) == text
    assert written(notation.day, dates=dates) == text.partition(" 18:")[0].partition(" 6:")[0]


def test_midnight_and_noon_differ_on_a_clock_of_twelve_hours():
    noon, midnight = AT.replace(hour=12), AT.replace(hour=0)

    assert written(notation.time_of_day, noon, hours=12) == "12:05 PM UTC"
    assert written(notation.time_of_day, midnight, hours=12) == "12:05 AM UTC"


@pytest.mark.parametrize(
    ("zone", "noon", "begins", "hours"),
    [
        # In UTC: noon of a day there, when that day began, and how long it is.
        ("UTC", (3, 29, 12, 0), (3, 29, 0, 0), 24),
        ("Europe/Berlin", (3, 29, 10, 0), (3, 28, 23, 0), 23),
        ("Europe/Berlin", (10, 25, 11, 0), (10, 24, 22, 0), 25),
        ("America/St_Johns", (3, 8, 14, 30), (3, 8, 3, 30), 23),
        ("America/St_Johns", (11, 1, 15, 30), (11, 1, 2, 30), 25),
        # Which puts its clock by half an hour.
        ("Australia/Lord_Howe", (4, 5, 1, 30), (4, 4, 13, 0), 24.5),
        ("Australia/Lord_Howe", (10, 4, 1, 0), (10, 3, 13, 30), 23.5),
        # It has no midnight in spring, and two in autumn.
        ("America/Havana", (3, 8, 16, 0), (3, 8, 5, 0), 23),
        ("America/Havana", (11, 1, 17, 0), (11, 1, 4, 0), 25),
        ("Asia/Kathmandu", (3, 29, 6, 15), (3, 28, 18, 15), 24),
    ],
)
def test_a_day_is_as_long_as_it_is_where_its_reader_is(zone, noon, begins, hours):
    at, there = datetime(2026, *noon, tzinfo=UTC), ZoneInfo(zone)

    assert written(notation.local, at, zone=there).hour == 12
    begun = written(notation.day_of, at, zone=there)
    over = written(notation.next_day, at, zone=there)

    assert begun == datetime(2026, *begins, tzinfo=UTC)
    assert over - begun == timedelta(hours=hours)
    assert written(notation.day_of, over - timedelta(seconds=1), zone=there) == begun
    assert written(notation.day_of, over, zone=there) == over


def test_a_hint_has_the_time_in_utc_too():
    there = ZoneInfo("America/St_Johns")

    assert written(notation.with_utc, zone=there, dates="dmy") == (
        "4 Mar 2026 14:35:09 UTC−3:30 = 2026-03-04 18:05:09 UTC"
    )
    assert written(notation.with_utc) == "2026-03-04 18:05:09 UTC"


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ({}, "18:05:09 UTC"),
        ({"zone": ZoneInfo("America/St_Johns"), "hours": 12}, "2:35:09 PM UTC−3:30"),
        # There it is tomorrow.
        ({"zone": ZoneInfo("Asia/Tokyo")}, "5 Mar, 03:05:09 UTC+9"),
        ({"zone": ZoneInfo("Asia/Tokyo"), "dates": "mdy"}, "Mar 5, 03:05:09 UTC+9"),
    ],
)
def test_a_sentence_names_the_day_unless_it_is_the_reader_s_today(chosen, text):
    now = AT.replace(hour=9)

    assert written(lambda at: clock_time(at, now=now), **chosen) == text
