"""X's time while a stream is open, whatever the host's own clock says."""

from datetime import UTC, datetime, timedelta

from trackers.ingest.stream.clock import clock_of

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)


def seconds(number):
    return timedelta(seconds=number)


def test_the_clock_of_x_advances_from_its_date_and_ours_from_the_database():
    clock = clock_of(NOW - seconds(4), 100.0, now=NOW, now_at=101.5)

    assert clock.x_at(110.0) == NOW + seconds(6)
    assert clock.ours_at(110.0) == NOW + seconds(8.5)
    assert clock.skew == seconds(2)


def test_a_date_an_hour_off_is_ignored_for_the_clock_of_the_database():
    for date in (None, NOW + seconds(3601), NOW - seconds(3601)):
        clock = clock_of(date, 100.0, now=NOW, now_at=100.0)

        assert clock.x_at(110.0) == clock.ours_at(110.0) == NOW + seconds(10)
        assert clock.skew is None


def test_a_date_within_the_hour_is_believed():
    assert clock_of(NOW + seconds(3600), 100.0, now=NOW, now_at=100.0).date == NOW + seconds(3600)
