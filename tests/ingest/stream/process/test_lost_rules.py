"""Somebody else deletes our rules at X, which says nothing of it to those who listen."""

import logging
import threading

import pytest

from tests.ingest.stream.listened import RULES
from tests.x import wait_until
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.stream.gaps import id_at
from trackers.ingest.stream.listeners import wanted_now
from trackers.ingest.stream.marks import our_mark
from trackers.ingest.stream.rule_rows import read_before
from trackers.ingest.stream.rule_sync import RuleSync

pytestmark = pytest.mark.django_db


def gaps(source):
    return list(source.gaps.filter(why="rule").values_list("from_id", "to_id"))


def within(id, stretches):
    return any(begins < id < ends for begins, ends in stretches)


def lose_rules_while_posts_appear(stream):
    """What happens at X; in the end it hangs up, whatever came of it."""
    x = stream.x
    try:
        wait_until(lambda: x.get("stream")["open"])
        x.tell("POST", "stream/lose_rules", {})
        stream.release("moon", count=50, rate=1e6)
        wait_until(lambda: len(x.get("visible")["posts"]) == 50)
        wait_until(stream.rules)
    finally:
        x.tell("POST", "stream/close", {})


def test_posts_during_a_missing_rule_lie_in_a_gap_and_the_rule_is_restored(stream, caplog):
    moon = stream.source("#moon")
    thread = threading.Thread(target=lose_rules_while_posts_appear, args=(stream,))
    thread.start()

    with caplog.at_level(logging.WARNING):
        stream.once()
    thread.join()

    posts = {int(post["id"]) for post in stream.x.get("visible")["posts"]}
    stored = set(moon.tweets.values_list("tweet_id", flat=True))
    assert len(posts) == 50
    assert [id for id in posts - stored if not within(id, gaps(moon))] == []
    assert stream.rules() == {"#moon": our_mark().tag_of(moon.pk)}
    assert "X did not have the rule any more of live: #moon" in caplog.text


def test_a_rule_deleted_without_a_listener_leaves_a_gap_since_the_last_check(stream):
    moon = stream.source("#moon")
    stream.synchronise()
    Gap.objects.all().delete()
    read_at, _ = read_before(stream.lease)
    stream.x.tell("POST", "stream/lose_rules", {})
    stream.start()

    stream.synchronise()

    [(begins, ends)] = gaps(moon)
    assert begins < id_at(read_at) < ends
    assert id_at(read_before(stream.lease)[1]) < ends
    moon.refresh_from_db()
    assert stream.synced.rules == {moon.pk: moon.rule_id}


def test_a_rule_recreated_by_another_program_is_used_and_leaves_a_gap(stream):
    moon = stream.source("#moon")
    stream.synchronise()
    Gap.objects.all().delete()
    stream.x.tell("POST", "stream/lose_rules", {})
    stream.ask("POST", add=[{"value": "#moon", "tag": "theirs"}])

    stream.synchronise()

    assert stream.rules() == {"#moon": "theirs"}
    assert len(gaps(moon)) == 1


def test_there_is_no_gap_while_the_rules_exist(stream):
    stream.source("#moon")
    stream.source("(broken")
    stream.synchronise()
    Gap.objects.all().delete()

    for _ in range(3):
        stream.synchronise()

    assert not Gap.objects.exists()


@pytest.mark.parametrize("act", [life.pause_sources, life.remove_sources])
def test_an_unwanted_rule_is_deleted_without_a_gap(stream, act, caplog):
    moon, sun = stream.source("#moon"), stream.source("#sun")
    stream.synchronise()
    Gap.objects.all().delete()
    act([moon.pk])

    with caplog.at_level(logging.WARNING):
        stream.synchronise()
        stream.synchronise()

    assert stream.rules() == {"#sun": our_mark().tag_of(sun.pk)}
    assert not Gap.objects.exists()
    assert caplog.text == ""
    assert not Source.objects.filter(pk=moon.pk).exclude(rule_id=None)


def test_unreadable_rules_keep_the_stream_open_and_are_read_later(stream):
    stream.source("#moon")
    stream.synchronise()
    kept = RuleSync(stream.asker, wanted_now(), stream.synced)
    fault = {"kind": "503_json", "match": {"endpoint": RULES}}
    stream.x.put("faults", [fault])
    before = len(stream.asked(RULES))

    wait_until(lambda: kept.look() or len(stream.asked(RULES)) > before)
    stream.source("#sun")
    looks = [kept.look() for _ in range(5)]

    assert looks == [False] * 5
    assert len(stream.asked(RULES)) == before + 1
    assert kept.synced.rules
