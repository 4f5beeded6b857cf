"""X's clock set ahead of ours, or behind it: every instant on the wire is told by it."""

import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest

SLACK_S = 5


def date_of(reply) -> float:
    return parsedate_to_datetime(reply.headers["date"]).timestamp()


@pytest.mark.parametrize("ahead_s", [-7200, -5, 5, 7200])
def test_the_date_header_follows_the_own_clock(x, ahead_s):
    x.fake("PUT", "clock", {"ahead_s": ahead_s})

    began = time.time()
    dates = [date_of(x.tweets(["1"])), date_of(x.get("/2/nothing")), date_of(x.get("/2/users"))]
    ended = time.time()

    assert all(began + ahead_s - 1 <= date <= ended + ahead_s for date in dates)


def test_the_clock_reports_its_offset_and_can_be_corrected(x):
    ahead = x.fake("PUT", "clock", {"ahead_s": 2.5})
    right = x.fake("PUT", "clock", {"ahead_s": 0})

    assert (ahead["ahead_s"], right["ahead_s"]) == (2.5, 0)
    assert ahead["now_ms"] - right["now_ms"] == pytest.approx(2500, abs=1000 * SLACK_S)
    assert abs(date_of(x.tweets(["1"])) - time.time()) < SLACK_S


def test_windows_end_by_the_own_clock(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 2, "app": None, "window": 900}})
    x.fake("PUT", "clock", {"ahead_s": 3600})

    first = x.tweets(["1"], token="ahead")
    x.tweets(["1"], token="ahead")
    full = x.tweets(["1"], token="ahead")
    x.fake("PUT", "clock", {"ahead_s": 3600 + 901})
    next_window = x.tweets(["1"], token="ahead")

    reset_s = int(first.headers["x-rate-limit-reset"])
    assert reset_s == pytest.approx(time.time() + 3600 + 900, abs=SLACK_S)
    assert [reply.status_code for reply in (full, next_window)] == [429, 200]


def test_a_read_is_billed_on_the_day_of_the_own_clock(x):
    [tweet_id] = x.live_ids(1)
    x.fake("PUT", f"tweets/{tweet_id}", {"state": "live"})
    x.fake("DELETE", "projects")
    x.fake("PUT", "clock", {"ahead_s": 10 * 86_400})

    x.tweets([tweet_id])

    day = datetime.fromtimestamp(x.entry()["at_ms"] / 1000, UTC).date().isoformat()
    assert x.entry()["billed_day"] == x.fake("GET", "clock")["billing_day"] == day
    assert x.entry()["at_ms"] / 1000 == pytest.approx(time.time() + 864_000, abs=SLACK_S)


def test_the_world_follows_the_own_clock_and_never_precedes_its_start(x):
    [tweet_id] = x.live_ids(1)
    x.fake("PUT", f"tweets/{tweet_id}", {"state": "live"})
    start_ms = x.fake("GET", "world")["start_ms"]

    views = []
    for ahead_s in (-1e7, 0, 1e7):
        clock = x.fake("PUT", "clock", {"ahead_s": ahead_s})
        assert clock["world_ms"] >= start_ms
        [tweet] = x.tweets([tweet_id], **{"tweet.fields": "public_metrics"}).json()["data"]
        views.append(tweet["public_metrics"]["impression_count"])
        assert x.entry()["answers"][tweet_id]["views"] == views[-1]

    assert 0 <= views[0] <= views[1] <= views[2]


def test_a_request_with_its_own_instant_is_answered_for_that_instant(x):
    x.fake("PUT", "clock", {"ahead_s": 5, "allow_fake_now": True})

    assert date_of(x.tweets(["1"], now_ms=1_900_000_000_000)) == 1_900_000_000
