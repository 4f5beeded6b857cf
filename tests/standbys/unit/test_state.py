"""When a standby may answer: near enough, and as far as its reader was."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.standbys.places import LogPlace
from trackers.standbys.reading import State

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
MOST = timedelta(seconds=10)


def state(*, timeline=1, lsn=1000, ago=0.5):
    return State(LogPlace(timeline, lsn), NOW - timedelta(seconds=ago))


@pytest.mark.parametrize(
    ("after", "has"),
    [
        (None, True),
        (LogPlace(1, 999), True),
        (LogPlace(1, 1000), True),
        (LogPlace(1, 1001), False),
        # Another primary's log goes other ways from the same numbers.
        (LogPlace(2, 5), False),
        (LogPlace(0, 5), False),
    ],
)
def test_a_standby_has_all_that_its_reader_saw(after, has):
    assert state().has(after) is has


def test_a_standby_without_a_beat_is_not_read():
    assert not State().has(LogPlace(1, 1))
    assert "is a cluster running?" in State().why_late(now=NOW, most=MOST)


@pytest.mark.parametrize(
    ("ago", "lag", "why"),
    [
        (0.2, 0, ""),
        # The next beat is under way.
        (1.0, 0, ""),
        (4.0, 3, ""),
        (11.0, 10, ""),
        (12.5, 11.5, "It is 12 s behind."),
        (4000.0, 3999, "It is 3,999 s behind."),
        # Of a clock that is behind.
        (-3.0, 0, ""),
    ],
)
def test_how_far_it_is_behind(ago, lag, why):
    assert state(ago=ago).lag(NOW) == timedelta(seconds=lag)
    assert state(ago=ago).why_late(now=NOW, most=MOST) == why


def test_a_place_is_read_as_it_is_written():
    assert LogPlace.parse(str(LogPlace(3, 0x16B3748))) == LogPlace(3, 0x16B3748)


@pytest.mark.parametrize("text", ["", "1", "1/", "/1", "a/1", "1/xyz"])
def test_text_that_is_no_place_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        LogPlace.parse(text)
