"""The filtered stream as a person runs it: a process, a fake X, and everything that goes wrong."""

import os
import signal
import socket

import psycopg
import pytest

from tests.flows.conftest import BEARER, wait_until
from tests.flows.streaming import FAR

# Django makes its test database, of which ours are copies, for those marked alone.
pytestmark = pytest.mark.django_db


def test_posts_that_a_rule_matches_are_tracked_as_they_appear(stream):
    stream.product.give_credential()
    source = stream.source("#moon")
    stream.start()
    wait_until(stream.is_open, what="the stream is open")

    stream.release(count=100)
    truth = stream.visible(until_ms=FAR)
    wait_until(lambda: stream.stored(source) >= truth, what="all posts are stored")

    product = stream.product
    reasons = product.sql("SELECT DISTINCT came_from FROM trackers_tweet")
    assert reasons == [("live: #moon",)]
    assert product.value("SELECT count(*) FROM trackers_tweet WHERE measurements = 1") == 100
    assert product.value("SELECT count(*) FROM trackers_tweetupdate") == 100
    assert product.value("SELECT yielded FROM trackers_source") == 100
    assert product.value("SELECT posts FROM trackers_spending") == 100
    assert product.value("SELECT count(*) FROM trackers_tweet WHERE paid_on IS NOT NULL") == 100
    assert BEARER not in stream.log_text()


TROUBLES = (
    ("cut", {}),
    ("cut", {"half": True}),
    ("garble", {"lines": 3}),
    ("close", {}),
    ("disconnect", {}),
    ("stall", {}),
    ("cut", {"half": True}),
    ("garble", {"lines": 1}),
    ("disconnect", {"type": "ForceDisconnect"}),
    ("cut", {}),
)


# STREAM_TROUBLES=50 is the long form: 20,000 posts. Chaos has these troubles too, among all others.
ROUNDS = int(os.environ.get("STREAM_TROUBLES", "10")) // len(TROUBLES)
POSTS = ROUNDS * 4000


def test_faults_during_thousands_of_posts_lose_none(stream):
    stream.product.give_credential()
    source = stream.source("#moon")
    stream.x.put("stream", {"duplicates": 0.01, "disorder": 0.01, "disorder_ms": 300})
    stream.start(STREAM_SILENCE="1")
    wait_until(stream.is_open, what="the stream is open")

    # Without retweets, which X's search shows none of for words and tags.
    stream.release(count=POSTS, rate=350, retweets=0)
    for trouble, given in TROUBLES * ROUNDS:
        survive(stream, trouble, given)
    truth = stream.visible(until_ms=FAR)
    wait_until(lambda: len(stream.visible()) == POSTS, what="all posts appeared")
    assert len(truth) == POSTS
    # What came a moment ago is on its way into the database. How much a break took back depends on
    # how far behind the reader was; all of that has to be in a gap.
    wait_until(lambda: not stream.missing(source, truth), what="none is missing")
    assert len(stream.stored(source)) > 1_000
    assert stream.row()["connects"] >= 8 * ROUNDS
    assert stream.row()["garbled"] == 4 * ROUNDS
    print(f"\n{len(stream.stored(source))} came by the stream, gaps: {len(stream.gaps(source))}")

    stream.x.put("world", {"search_newest_s": 0, "search_end_s": 0})
    stream.product.start_cluster(workers=2)
    wait_until(lambda: not stream.gaps(source), within=180, what="the gaps are filled")
    stored = stream.stored(source)
    # Some were deleted by their authors before search was asked.
    assert [id for id in truth - stored if stream.is_shown(id)] == []
    assert len(truth - stored) < 20
    product = stream.product
    assert product.value("SELECT count(*) FROM trackers_tweet") == len(stored)
    assert product.value("SELECT yielded FROM trackers_source") == len(stored)


def survive(stream, trouble, values):
    """Let it befall the stream, and wait until it is connected anew, and hears something."""
    before = stream.row()
    stream.x.tell("POST", f"stream/{trouble}", values)
    if trouble == "garble":
        wait_until(
            lambda: stream.row()["garbled"] == before["garbled"] + values["lines"],
            what="the garbled lines are counted",
        )
        return
    wait_until(
        lambda: (row := stream.row())["connects"] > before["connects"] and row["state"] == "open",
        what=f"it is connected again after {trouble}",
    )
    lines = stream.row()["lines"]
    wait_until(lambda: stream.row()["lines"] > lines + 20, what="lines come again")


def all_stored(stream):
    """Let all posts appear, and be stored."""
    truth = stream.visible(until_ms=FAR)
    wait_until(lambda: stream.stored(stream.moon) >= truth, what="all are stored")
    return truth


def test_rules_are_synchronised_with_sources_and_foreign_rules_survive(stream):
    stream.product.give_credential()
    mark = stream.mark()
    stream.ask("POST", add=[{"value": "theirs", "tag": "another program"}, {"value": "bare"}])
    stream.ask("POST", add=[{"value": "gone", "tag": mark.tag_of(12345)}])
    moon, bare, bad = stream.source("#moon"), stream.source("bare"), stream.source("(broken")
    stream.start()
    wait_until(stream.is_open, what="the stream is open")

    rules = {rule["value"]: rule.get("tag") for rule in stream.rules()}

    assert rules == {"theirs": "another program", "bare": None, "#moon": mark.tag_of(moon)}
    ids = {rule["value"]: int(rule["id"]) for rule in stream.rules()}
    told = dict(stream.product.sql("SELECT id, rule_id FROM trackers_source"))
    assert told == {moon: ids["#moon"], bare: ids["bare"], bad: None}
    problems = dict(stream.product.sql("SELECT id, problem FROM trackers_source"))
    assert problems[bad].startswith("X refuses the rule: ")
    assert (problems[moon], problems[bare]) == ("", "")


def test_rules_follow_the_sources_without_a_new_connection(open_stream):
    stream = open_stream
    sun = stream.source("#sun")
    wait_until(
        lambda: {rule["value"] for rule in stream.rules()} == {"#moon", "#sun"},
        what="the new rule is X's",
    )
    wait_until(lambda: stream.gaps(sun), what="the time until it acts is a gap")
    stream.release(count=50, tags=["sun"])
    truth = stream.visible(until_ms=FAR)
    wait_until(lambda: stream.stored(sun) >= truth, what="its posts are stored")

    stream.product.sql("UPDATE trackers_source SET paused_at = now() WHERE id = %s", stream.moon)
    wait_until(
        lambda: [rule["value"] for rule in stream.rules()] == ["#sun"],
        what="the paused source's rule is gone",
    )
    assert stream.row()["connects"] == 1

    assert stream.product.call("source", "remove", sun, "--json")["removed"] == "live: #sun"
    wait_until(lambda: stream.row()["state"] == "waiting", what="nothing to listen for")
    wait_until(lambda: "There is no" in stream.row()["because"], what="it says why")
    assert stream.rules() == []


@pytest.mark.more
def test_a_slow_database_loses_no_posts(open_stream):
    stream = open_stream
    stream.release(count=1500, rate=300)
    wait_until(lambda: stream.row()["lines"] > 50, what="lines come")

    with psycopg.connect(stream.product.environment["DATABASE_URL"]) as other:
        other.execute("SELECT FROM trackers_stream FOR UPDATE")
        stuck = stream.stored(stream.moon)
        wait_until(lambda: len(stream.visible()) > 1000, what="many more appear")
        assert len(stream.stored(stream.moon)) <= len(stuck) + 1000
    all_stored(stream)

    assert stream.row()["connects"] == 1


@pytest.mark.more
def test_killed_database_connections_lose_no_posts(open_stream):
    stream = open_stream
    stream.release(count=1500, rate=300)
    for part in range(1, 6):
        wait_until(lambda least=150 * part: stream.row()["lines"] > least, what="more")
        stream.product.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    truth = all_stored(stream)

    assert stream.row()["connects"] == 1
    assert stream.product.value("SELECT count(*) FROM trackers_tweet") == len(truth) == 1500


def test_a_stopping_process_stores_what_it_read_and_releases_the_lease(open_stream):
    stream = open_stream
    stream.release(count=2000, rate=300)
    wait_until(lambda: stream.row()["lines"] > 200, what="lines come")

    stream.process.send_signal(signal.SIGTERM)

    assert stream.process.wait(15) == 0
    assert stream.row()["state"] == "stopped"
    assert stream.product.value("SELECT lease IS NULL FROM trackers_stream")
    wait_until(lambda: not stream.x.get("stream")["open"], what="X knows")
    cut = max(line["at_ms"] for line in stream.sent()) - 500
    sure = {int(line["id"]) for line in stream.sent() if line["at_ms"] < cut}
    assert sure <= stream.stored(stream.moon)

    stream.start()
    wait_until(stream.is_open, what="it is open again")
    truth = stream.visible(until_ms=FAR)
    wait_until(lambda: not stream.missing(stream.moon, truth), what="none is missing")


def test_another_process_stands_by_and_takes_over_when_the_first_is_killed(open_stream):
    stream = open_stream
    second = stream.start()
    wait_until(
        lambda: "another stream process holds it" in second.log.read_text(),
        what="the second says that it stands by",
    )
    assert f"holds it: {socket.gethostname()} {stream.process.pid}" in second.log.read_text()
    stream.release(count=6000, rate=200)
    wait_until(lambda: stream.row()["lines"] > 100, what="lines come")

    stream.process.kill()

    wait_until(
        lambda: (row := stream.row())["pid"] == second.pid and row["state"] == "open",
        what="the second listens",
    )
    lines = stream.row()["lines"]
    wait_until(lambda: stream.row()["lines"] > lines + 100, what="lines come to it")
    now_ms = stream.x.get("posts")["now_ms"]
    truth = stream.visible(until_ms=now_ms - 500)
    wait_until(lambda: not stream.missing(stream.moon, truth), what="none is missing")


@pytest.mark.more
def test_a_process_without_its_lease_writes_nothing(open_stream):
    stream = open_stream
    stream.release(count=3000, rate=200)
    wait_until(lambda: stream.row()["lines"] > 100, what="lines come")
    second = stream.start()
    wait_until(lambda: "holds it" in second.log.read_text(), what="it stands by")

    stream.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: stream.row()["pid"] == second.pid, what="the second took over")
    stream.x.tell("POST", "stream/cut", {})
    wait_until(stream.is_open, what="the second listens")
    stream.process.send_signal(signal.SIGCONT)

    wait_until(
        lambda: "another stream process took over" in stream.process.log.read_text(),
        what="the first notices",
    )
    assert stream.row()["pid"] == second.pid


@pytest.mark.more
def test_silence_makes_the_stream_reconnect(stream):
    stream.product.give_credential()
    moon = stream.source("#moon")
    process = stream.start(STREAM_SILENCE="2")
    wait_until(stream.is_open, what="the stream is open")
    wait_until(lambda: stream.row()["stored_until"], what="keep-alives come")
    before = stream.row()["connects"]

    stream.x.tell("POST", "stream/stall", {})

    wait_until(lambda: stream.row()["connects"] > before, what="it connects anew")
    assert "X was silent for 2 s." in process.log.read_text()
    assert stream.gaps(moon)


@pytest.mark.more
def test_the_stream_waits_for_a_credential(stream):
    stream.source("#moon")
    stream.start()
    wait_until(lambda: "bearer" in stream.row().get("because", ""), what="it says so")
    assert stream.row()["state"] == "waiting"
    assert stream.x.log() == []

    stream.product.give_credential()

    wait_until(stream.is_open, what="the stream is open")


def test_spent_daily_money_ends_the_connection(open_stream):
    stream = open_stream
    stream.product.sql("UPDATE trackers_project SET posts_a_day = 50")
    stream.release(count=500, rate=200)

    wait_until(lambda: stream.row()["state"] == "waiting", what="it is not connected")

    assert "budget of project main is spent" in stream.row()["because"]
    wait_until(lambda: not stream.x.get("stream")["open"], what="X sees it leave")
    spent = stream.product.value("SELECT posts FROM trackers_spending")
    assert 50 <= spent == len({line["id"] for line in stream.sent() if line["how"] == "whole"})
