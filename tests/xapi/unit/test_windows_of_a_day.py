"""Which window X's headers say is the tightest, where an endpoint has limits of 24 hours too."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.xapi.errors import RateLimited
from trackers.xapi.wire.headers import window_seen
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import Reply

NOW = datetime(2026, 11, 25, 10, tzinfo=UTC)
QUARTER, APP, USER = "x-rate-limit", "x-app-limit-24hour", "x-user-limit-24hour"
SOON, LATER = timedelta(minutes=10), timedelta(hours=20)


def headers(**windows):
    """`windows`: by name, the limit, what remains, and how long until the reset."""
    sent = {"date": "Wed, 25 Nov 2026 10:00:00 GMT"}
    for name, (limit, remaining, opens_in) in windows.items():
        prefix = {"quarter": QUARTER, "app": APP, "user": USER}[name]
        sent |= {
            f"{prefix}-limit": str(limit),
            f"{prefix}-remaining": str(remaining),
            f"{prefix}-reset": str(int((NOW + opens_in).timestamp())),
        }
    return sent


@pytest.mark.parametrize(
    ("windows", "limit", "remaining", "opens_in", "a_day"),
    [
        ({"quarter": (900, 12, SOON)}, 900, 12, SOON, None),
        ({"quarter": (900, 12, SOON), "app": (5000, 13, LATER)}, 900, 12, SOON, 5000),
        ({"quarter": (900, 800, SOON), "app": (1200000, 1199990, LATER),
          "user": (25, 3, LATER)}, 25, 3, LATER, 25),
        ({"quarter": (900, 5, SOON), "app": (100, 5, LATER)}, 100, 5, LATER, 100),
        ({"app": (17, 16, LATER)}, 17, 16, LATER, 17),
        # Over by X's own clock.
        ({"quarter": (900, 800, SOON), "app": (17, 0, -SOON)}, 900, 800, SOON, 17),
    ],
)  # fmt: skip
def test_the_tightest_window_counts(windows, limit, remaining, opens_in, a_day):
    seen = window_seen(headers(**windows), "e")

    assert (seen.limit, seen.remaining, seen.limit_a_day) == (limit, remaining, a_day)
    assert (seen.resets_at, seen.seen_at) == (NOW + opens_in, NOW)


@pytest.mark.parametrize("missing", ["limit", "remaining", "reset"])
def test_an_incomplete_window_of_a_day_is_left_out(missing):
    sent = headers(quarter=(900, 12, SOON), app=(17, 0, LATER))
    del sent[f"{APP}-{missing}"]

    assert window_seen(sent, "e") == window_seen(headers(quarter=(900, 12, SOON)), "e")


def test_a_refusal_for_the_day_says_when_the_day_ends():
    """Recorded of a free plan: the quarter of an hour had room, and the day had none."""
    sent = headers(quarter=(1080000, 1079999, SOON), app=(17, 0, LATER), user=(17, 0, LATER))

    error = error_in(
        Reply(429, sent, b'{"title":"Too Many Requests","status":429}', ""), window_seen(sent, "e")
    )

    assert isinstance(error, RateLimited)
    assert (error.resets_at, error.window.remaining) == (NOW + LATER, 0)
