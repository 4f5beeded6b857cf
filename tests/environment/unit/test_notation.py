"""Times as a person reads them: each zone, both changes of the clock, each order of a date."""

from contextvars import copy_context
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tweetwatch import notation
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
