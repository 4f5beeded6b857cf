"""In the stream's way: X refuses it, somebody deletes its rule, its host's clock is wrong."""

import time
from datetime import timedelta

import pytest

from tests.chaos.clock import Clock, available
from tests.flows.conftest import BEARER, wait_until
from tests.flows.streaming import FAR
from trackers.tweets.snowflake import born_at

# Django makes its test database, of which ours are copies, for those marked alone.
pytestmark = pytest.mark.django_db

A_MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("fault", "times", "endpoint"),
    [
        ("503_json", 1, "GET /2/tweets/search/stream"),
        pytest.param("reset", 2, "GET /2/tweets/search/stream", marks=pytest.mark.more),
        # Before the process has connected at all.
        pytest.param("503_json", 1, "GET /2/tweets/search/stream/rules", marks=pytest.mark.more),
    ],
)
def test_failed_connections_are_retried(stream, fault, times, endpoint):
    stream.x.put("faults", [{"kind": fault, "times": times, "match": {"endpoint": endpoint}}])
    stream.product.give_credential()
    stream.source("#moon")
    process = stream.start()

    wait_until(lambda: stream.is_open() or process.poll() is not None, what="it is open, or ended")

    assert stream.is_open(), stream.log_text()
    assert stream.log_text().count("not connected") >= 1
    assert BEARER not in stream.log_text()


def test_a_deleted_rule_is_restored_and_leaves_a_gap(stream):
    stream.product.give_credential()
    stream.moon = stream.source("#moon")
    stream.start(STREAM_RULES_EVERY="1")
    wait_until(stream.is_open, what="the stream is open")
    stream.x.tell("POST", "stream/lose_rules", {})
    stream.release(count=50, rate=1e6, retweets=0)
    truth = stream.visible(until_ms=FAR)

    wait_until(stream.rules, what="X has the rule again")
    wait_until(lambda: not stream.missing(stream.moon, truth), what="what it missed is a gap")

    # The gap is stored before it is told.
    told = "X did not have the rule any more of live: #moon"
    wait_until(lambda: told in stream.log_text(), what="it says so")
    assert stream.row()["connects"] == 1


@pytest.mark.skipif(not available(), reason="needs Debian's faketime")
@pytest.mark.parametrize("ahead", [2 * 3600, pytest.param(-2 * 3600, marks=pytest.mark.more)])
def test_a_wrong_host_clock_neither_hides_nor_enlarges_gaps(stream, tmp_path, ahead):
    clock = Clock(tmp_path / "shift")
    clock.shift(ahead)
    stream.product.give_credential()
    stream.moon = stream.source("#moon")
    stream.start(STREAM_SILENCE="2", **clock.environment())
    wait_until(stream.is_open, what="the stream is open")
    wait_until(lambda: is_of_now(stream), what="keep-alives tell how far all is stored")

    # Set by hand while it listens.
    clock.shift(2 * ahead)
    time.sleep(3)
    assert is_of_now(stream)
    stream.x.tell("POST", "stream/stall", {})
    stream.release(count=100)
    wait_until(lambda: stream.row()["connects"] == 2, what="it connects anew")
    wait_until(stream.is_open, what="the stream is open again")

    # Those that X sent nobody are in a gap, which is not longer than the silence was.
    truth = stream.visible(until_ms=FAR)
    assert len(truth) == 100
    wait_until(lambda: not stream.missing(stream.moon, truth), what="none is missing")
    assert stream.gaps(stream.moon)
    assert all(born_at(to) - born_at(start) < A_MINUTE for start, to in stream.gaps(stream.moon))


def is_of_now(stream):
    behind = "SELECT abs(extract(epoch FROM now() - stored_until)) FROM trackers_stream"
    seconds = stream.product.value(behind)
    return seconds is not None and seconds < 5
