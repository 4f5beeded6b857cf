"""Lost gaps of searches and accounts, filled from the archive after a person saw the cost."""

import time
from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from tests.ingest.polls.steps import add, asked, billed, poll, release, spent, step, yielded
from trackers.credentials import acts as credential_acts
from trackers.credentials.models import Credential
from trackers.history import by_command
from trackers.ingest.sources import acts
from trackers.ingest.sources.models import Gap
from trackers.tweets.models import Author
from trackers.tweets.snowflake import first_id_at

pytestmark = pytest.mark.django_db(transaction=True)

ALL = "GET /2/tweets/search/all"
WEEK = "GET /2/tweets/search/recent"
DAY = 86_400


def id_of(days_ago):
    at = timezone.now() - timedelta(days=days_ago)
    return first_id_at(int(at.timestamp() * 1000))


@pytest.fixture
def posts(x, account):
    """Thirty a day for three weeks, until yesterday."""
    release(
        x,
        authors=[account[0]],
        rate=30 / DAY,
        count=600,
        starts_in_s=-21 * DAY,
        tags=["poll"],
        tagged=1,
        retweets=0,
    )
    shown = x.get("visible?from_ms=0&query=%23poll")["posts"]
    return {int(post["id"]) for post in shown if post["state"] == "live"}


@pytest.fixture
def source(x, posts):
    """A search that was read until 16 days ago, and then again; what lies between is lost."""
    source = add("search", "#poll", backfill=timedelta(days=6), pages=2)
    source.latest_id = source.begun_id = id_of(16)
    source.asked_at_ms = int((timezone.now() - timedelta(days=16)).timestamp() * 1000)
    source.save()
    poll(source)
    [gap] = source.gaps.all()
    assert gap.is_lost
    return source


def fill_slowly(source):
    """All gaps: the archive answers once in a second."""
    end = time.monotonic() + 60
    while source.gaps.filter(closed_at=None).exists():
        assert time.monotonic() < end, source.problem
        step(source)
        time.sleep(0.1)


def lacking(source, posts):
    [gap] = source.gaps.all()
    return {id for id in posts if gap.from_id < id < gap.to_id}


def test_a_lost_gap_is_filled_from_the_archive(x, posts, source):
    wanted = lacking(source, posts)
    assert len(wanted) > 150
    question = acts.asks_to_search_archive(source)

    done = acts.search_archive(source, by_command())
    fill_slowly(source)

    assert "for about $" in question
    assert (done.is_done, done.count) == (True, 1)
    assert wanted <= yielded(source)
    gap = source.gaps.get()
    assert gap.closed_at is not None
    assert spent() == billed(x)
    requests = asked(x, ALL)
    assert len(requests) >= 1
    assert {entry["status"] for entry in requests} == {200}
    assert source.leaked == 0


def test_several_pages_are_asked_for_once_in_a_second(x, posts, source):
    wanted = lacking(source, posts)
    source.pages = 1
    source.save()
    acts.search_archive(source, by_command())

    fill_slowly(source)

    assert wanted <= yielded(source)
    requests = asked(x, ALL)
    assert len(requests) > 1
    assert {entry["status"] for entry in requests} == {200}
    assert all(later["at_ms"] - one["at_ms"] >= 1000 for one, later in pairwise(requests))


def test_a_refusal_is_remembered_and_the_gap_stays_lost(x, posts, source):
    x.put("faults", [{"kind": "403", "match": {"endpoint": ALL}}])
    acts.search_archive(source, by_command())

    poll(source)
    for _ in range(4):
        step(source)

    gap = Gap.objects.get()
    assert gap.is_lost
    assert "which not every plan has" in gap.archive_refusal
    assert len(asked(x, ALL)) == 1
    again = acts.search_archive(source, by_command())
    assert not again.is_done
    assert "which not every plan has" in again.message
    poll(source)
    assert source.problem == ""
    assert len(asked(x, ALL)) == 1


def test_a_query_that_the_archive_does_not_take_is_asked_once(x):
    # X has this operator for the last week only.
    source = add("search", 'entity:"Michael Jordan"', backfill=timedelta(days=1))
    poll(source)
    source.gaps.create(from_id=id_of(20), to_id=id_of(9), why="reach", found_at=timezone.now())

    acts.search_archive(source, by_command())
    for _ in range(4):
        step(source)

    gap = source.gaps.get()
    assert gap.is_lost
    assert "invalid operator 'entity'" in gap.archive_refusal
    assert [entry["status"] for entry in asked(x, ALL)] == [400]
    poll(source)
    assert source.problem == ""


def test_with_other_keys_it_is_asked_again(x, posts, source):
    wanted = lacking(source, posts)
    x.put("faults", [{"kind": "403", "match": {"endpoint": ALL}, "times": 1}])
    acts.search_archive(source, by_command())
    poll(source)
    step(source)
    step(source)

    credential_acts.enable([Credential.objects.get()], by_command())
    assert acts.search_archive(source, by_command()).is_done
    fill_slowly(source)

    assert wanted <= yielded(source)


@pytest.fixture
def long_account(x, account):
    """An account whose timeline ends before its first post, and what lies below its end."""
    release(x, authors=[account[0]], rate=10 / DAY, count=1400, starts_in_s=-145 * DAY)
    source = add("account", account[1], pages=20, exclude_replies=True)
    poll(source)
    gap = source.gaps.get()
    assert (gap.is_lost, gap.from_id) == (True, None)
    return source


def older(x, source):
    [gap] = source.gaps.all()
    posts = x.get(f"visible?author={source.account_id}&from_ms=0")["posts"]
    shown = [post for post in posts if post["state"] == "live" and int(post["id"]) < gap.to_id]
    return {int(post["id"]) for post in shown if post["kind"] != "reply"}


def test_posts_beyond_the_timeline_of_an_account_come_from_the_archive(x, long_account):
    source = long_account
    wanted, ends_before = older(x, source), source.gaps.get().to_id
    assert len(wanted) > 200

    question = acts.asks_to_search_archive(source)
    done = acts.search_archive(source, by_command())
    fill_slowly(source)

    assert " of posts that " in question
    assert (done.is_done, done.count) == (True, 1)
    assert wanted <= yielded(source)
    requests = asked(x, ALL)
    assert {entry["status"] for entry in requests} == {200}
    # What its timeline leaves out is neither read nor paid for; the last second is read in full.
    read = {int(id) for entry in requests for id in entry["shown"]}
    assert read - {ends_before} == wanted
    assert spent() == billed(x)
    assert source.leaked == 0
    assert "start_time=2006-03-21" in requests[0]["query"]


def test_the_archive_of_an_account_is_not_asked_where_it_shows_nothing(x, long_account):
    """An empty answer would look like nothing posted."""
    source = long_account
    Author.objects.update_or_create(id=source.account_id, defaults={"protected": True})

    done = acts.search_archive(source, by_command())

    assert not done.is_done
    assert "the account is protected" in done.message
    assert asked(x, ALL) == []


def test_there_is_nothing_to_search_for_without_a_lost_gap(x, account):
    for kind, of in (("search", "#poll"), ("account", account[1])):
        done = acts.search_archive(add(kind, of), by_command())

        assert not done.is_done
        assert "no lost gap" in done.message
