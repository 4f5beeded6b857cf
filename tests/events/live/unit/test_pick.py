"""Which events of rows that were read are told, and where the reader then stands."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.events.live.cursor import Cursor, read_cursor
from trackers.events.live.pick import FeedRow, Gap, pick

NOW = datetime(2026, 11, 22, tzinfo=UTC)
TWEETS, NEWS = 1, 2
START = Cursor(0)


def row(place, *events, topics=None):
    """Of the topic NEWS, or of these; a second younger at each place."""
    at = NOW + timedelta(seconds=place)
    return FeedRow(place, at, at, at, topics or [NEWS] * len(events), events)


def mark(place, *topics):
    return row(place, topics=list(topics))


def picked(rows, start=START, most=100):
    """As they are read: from the row on that has the next event."""
    return pick([one for one in rows if one.place >= start.place], start, {NEWS}, most=most)


def test_each_event_is_read_once_however_often_the_reader_returns():
    rows = [row(10, 1, 2, 3), row(20, 4), row(30, 5, 6)]

    for most in (1, 2, 3, 4, 100):
        collected, start = [], START
        while start.place <= 30:
            found = picked(rows, start, most)
            assert len(found.events) <= most
            collected += found.events
            start = found.reached
        assert collected == [1, 2, 3, 4, 5, 6]

    # Behind any of them, since the connection may break anywhere.
    for nth, (_, behind) in enumerate(picked(rows).events.items()):
        assert [*picked(rows, behind).events] == [1, 2, 3, 4, 5, 6][nth + 1 :]


def test_events_of_other_topics_are_skipped_and_not_read_again():
    found = picked([row(10, 1, 2, 3, topics=[NEWS, TWEETS, TWEETS])])

    assert found.events == {1: Cursor(10, 1)}
    assert found.reached == Cursor(11)


def test_first_and_last_time_are_those_of_all_rows():
    found = picked([row(10, 1), row(20, 2)])

    assert found.first_at == NOW + timedelta(seconds=10)
    assert found.last_at == NOW + timedelta(seconds=20)


def test_a_mark_of_a_topic_is_a_gap_before_later_events():
    rows = [row(10, 1), mark(20, NEWS, TWEETS), row(30, 2)]

    before = picked(rows)
    behind = picked(rows, before.reached)

    assert (list(before.events), before.gap) == ([1], None)
    assert (list(behind.events), behind.gap) == ([2], Gap(NOW + timedelta(seconds=20), Cursor(21)))
    assert picked(rows, behind.gap.behind).gap is None


def test_a_mark_of_another_topic_is_no_gap():
    found = picked([row(10, 1), mark(20, TWEETS), row(30, 2)])

    assert (list(found.events), found.gap) == ([1, 2], None)


@pytest.mark.parametrize("text", ["5368709120-17", "0-0", f"{2**63 - 1}-1000"])
def test_a_cursor_round_trips_through_its_text(text):
    assert str(read_cursor(text)) == text


@pytest.mark.parametrize("text", ["", "5", "-5-1", "5-1 ", "5-١", "9" * 19 + "-1", "5-1\n6-1", "x"])
def test_a_malformed_cursor_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match=r"^Last-Event-ID is the id of an event .*\.$"):
        read_cursor(text)
