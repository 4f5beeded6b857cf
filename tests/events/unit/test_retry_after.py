"""How long a receiver asks to wait."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from trackers.events.delivery.call import retry_after

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("9" * 4000, 3600),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90),
        (format_datetime(NOW - timedelta(seconds=90)), -90),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None),
        ("soon", None),
        ("-5", None),
        ("²", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(text, seconds):
    wait = retry_after(text, now=NOW)

    if seconds is None:
        assert wait is None or wait > timedelta(days=1)
    else:
        assert wait == timedelta(seconds=seconds)
