"""What goes wrong between X and a source: it is told, waited for, and nothing is lost by it."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.polls.steps import (
    accounts,
    add,
    asked,
    billed,
    fill,
    poll,
    release,
    spent,
    step,
    visible,
    yielded,
)
from tests.stored_events import events_of, subscribe
from trackers.credentials.models import Credential, Window
from trackers.credentials.sentences import is_spent
from trackers.ingest.polls.trouble import FIRST_WAIT
from trackers.ingest.sources.models import Gap, Source, SourcePoll
from trackers.jobs import queue
from trackers.money.models import Project, Spending
from trackers.outbox.models import Event
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db(transaction=True)

POSTS = "GET /2/users/:id/tweets"
SEARCH = "GET /2/tweets/search/recent"


@pytest.fixture
def source(x, account):
    """An account whose name is known, polled once, with 250 posts to come."""
    made = add("account", account[1], backfill=timedelta(0))
    poll(made)
    release(x, authors=[account[0]], count=250)
    Source.objects.update(poll_at=None)
    made.refresh_from_db()
    return made


def due_in(source):
    return SourcePoll.objects.get(key=source.pk).due_at - timezone.now()


def about(wait):
    # Looked at within five seconds, on a busy machine.
    return lambda told: wait * 0.75 - timedelta(seconds=5) < told < wait * 1.25


@pytest.mark.parametrize(
    "kind",
    [
        *("503_json", "503_text", "500", "html", "garbage_list", "reset", "truncated"),
        *("403_forbidden", "404"),
    ],
)
def test_a_failed_request_waits_twice_as_long_each_time_and_says_why(x, account, source, kind):
    x.put("faults", [{"kind": kind}])

    for n in range(3):
        step(source)
        assert source.failures == n + 1
        assert source.problem
        assert about(FIRST_WAIT * 2**n)(due_in(source))
    assert not source.tweets.exists()
    x.delete("faults")
    poll(source)

    assert visible(x, author=account[0]) <= yielded(source)
    assert (source.failures, source.problem) == (0, "")
    assert not Spending.objects.exclude(posts_reserved=0).exists()
    assert sum(Spending.objects.values_list("posts", flat=True)) >= billed(x)


def test_polls_behind_a_firewall_spend_nothing_and_resume_when_it_opens(
    x, settings, account, source, firewall
):
    spent_before = spent()
    Project.objects.update(posts_a_day=250)
    settings.REQUEST_TIMEOUT = timedelta(seconds=0.2)
    settings.X_API_BASE_URL = f"http://127.0.0.1:{firewall.port}"

    for n in range(3):
        step(source)
        assert source.problem.startswith("No connection to X within 0.")
        assert about(FIRST_WAIT * 2**n)(due_in(source))

    assert spent() == spent_before
    assert not any(window.lost for window in Window.objects.all())
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    settings.X_API_BASE_URL = x.url
    poll(source)
    assert len(yielded(source)) == 250 - spent_before


def test_pages_before_a_failure_are_kept_and_the_poll_continues_after_them(x, account, source):
    step(source)
    x.put("faults", [{"kind": "503_json", "times": 2}])
    for _ in range(2):
        step(source)
    assert len(yielded(source)) == 100

    poll(source)

    assert visible(x, author=account[0]) <= yielded(source)
    assert source.again == 0
    assert spent() == billed(x)


def test_an_expired_page_token_is_replaced_by_a_bound_of_ids(x, account, source):
    step(source)
    Source.objects.update(sweep=source.sweep | {"token": "nonsense"})

    poll(source)

    assert visible(x, author=account[0]) <= yielded(source)
    assert source.problem == ""
    assert [entry["status"] for entry in asked(x, POSTS)].count(400) == 1


@pytest.mark.parametrize(("of", "what"), [("nobody_at_all", "name"), ("999", "number")])
def test_an_unknown_account_is_reported_and_retried_within_the_hour(x, of, what):
    source = add("account", of)

    step(source)

    assert source.hidden_reason == "not_found"
    assert f"no account with this {what}" in source.problem
    assert timedelta(minutes=59) < due_in(source) <= timedelta(hours=1)
    assert Spending.objects.filter(users_reserved=0).count() == Spending.objects.count()


def test_a_hidden_account_is_reported_and_polled_less_often(x, account, source):
    subscribe("sources")
    x.put(f"authors/{account[0]}", {"state": "protected"})

    step(source)
    step(source)

    assert (source.hidden_reason, source.failures) == ("unauthorized", 0)
    assert source.problem
    assert about(4 * source.every)(due_in(source))
    assert not source.gaps.exists()
    x.delete("authors")
    poll(source)
    assert (source.hidden_reason, source.problem) == ("", "")
    assert visible(x, author=account[0]) <= yielded(source)
    assert [one.data for one in events_of("sources")] == [
        {"source": source.pk, "what": "hidden", "why": "unauthorized"},
        {"source": source.pk, "what": "back", "why": "unauthorized"},
    ]


def test_posts_too_old_for_search_are_a_lost_gap_and_the_poll_continues(x, account):
    subscribe("sources")
    source = add("search", "#old")
    release(x, authors=[account[0]], count=30, tags=["old"], tagged=1)
    poll(source)
    old = (source.latest_id >> 22) - 8 * 86_400_000 << 22
    Source.objects.update(
        latest_id=old,
        asked_at_ms=None,
        passed_id=old,
        sweep={"purpose": "poll", "since_id": old, "until_id": None, "pages_left": 10},
    )

    poll(source)

    assert 400 in [entry["status"] for entry in asked(x, SEARCH)]
    [gap] = source.gaps.all()
    assert (gap.why, gap.from_id, gap.closed_at) == ("reach", old, None)
    [event] = Event.objects.all()
    assert (event.type, event.url) == ("update", f"/sources/{source.pk}/")
    gap_told = {"what": "gap", "why": "reach", "after": str(old), "before": str(gap.to_id)}
    assert event.data == {"source": source.pk, **gap_told}
    assert visible(x, query="#old") <= yielded(source)
    assert source.problem == ""


def test_an_exhausted_window_ends_the_poll_with_a_gap_filled_later(x, account, source):
    x.put("limits", {POSTS: {"token": 2, "app": None, "window": 900}})
    x.delete("limits")  # the windows begin anew
    Window.objects.all().delete()

    for _ in range(3):
        step(source)

    [gap] = source.gaps.all()
    assert (gap.why, gap.closed_at) == ("quota", None)
    assert source.sweep is None
    assert "may ask again" in source.problem
    assert timedelta(minutes=5) < due_in(source) < timedelta(minutes=16)
    x.put("limits", {POSTS: {"token": 1000, "app": 1000, "window": 900}})
    x.delete("limits")
    Window.objects.all().delete()
    poll(source)
    fill(source)
    assert visible(x, author=account[0]) <= yielded(source)
    assert source.gaps.get().closed_at is not None
    assert (source.leaked, source.problem) == (0, "")
    assert spent() == billed(x)


def test_a_short_window_is_left_to_sources_of_higher_priority(x):
    (_, low), (_, high) = accounts(x, 2)
    humble = add("account", low, priority=Source.Priority.LOW, backfill=timedelta(0))
    poll(humble)
    urgent = add("account", high, priority=Source.Priority.HIGH, backfill=timedelta(0))
    poll(urgent)
    x.put("limits", {POSTS: {"token": 10, "app": None, "window": 900}})
    x.delete("limits")  # the windows begin anew
    Window.objects.all().delete()
    x.delete("log")

    for _ in range(10):
        Source.objects.filter(pk=humble.pk).update(poll_at=None)
        step(humble)

    assert len(asked(x, POSTS)) == 7
    assert "higher priority" in humble.problem
    for _ in range(3):
        poll(urgent)
    assert len(asked(x, POSTS)) == 10


def test_a_page_is_as_large_as_the_money_allows(x, account, source):
    already = spent()
    Project.objects.update(posts_a_day=already + 130)

    step(source)
    step(source)
    step(source)

    assert len(yielded(source)) == 130
    assert spent() == billed(x) == already + 130
    assert is_spent(source.problem)
    [gap] = source.gaps.all()
    assert gap.why == "quota"
    assert due_in(source) > timedelta(minutes=1) or timezone.now().hour == 23
    Project.objects.update(posts_a_day=None)
    poll(source)
    fill(source)
    assert visible(x, author=account[0]) <= yielded(source)


def test_without_a_credential_the_source_says_how_to_add_one(x, account):
    Credential.objects.all().delete()
    source = add("search", "#nothing")

    step(source)

    assert "no credential" in source.problem.lower()
    assert timedelta(seconds=10) < due_in(source) < timedelta(seconds=16)


def test_a_refused_query_is_reported_and_retried_rarely(x):
    source = add("search", "(((")

    for _ in range(9):
        step(source)

    assert source.failures == 9
    assert "400" in source.problem
    assert due_in(source) > timedelta(minutes=14)


@pytest.mark.parametrize("why", [Gap.Why.STREAM, Gap.Why.RULE])
def test_a_gap_of_a_stream_is_filled_by_one_search(x, account, why):
    source = Source.objects.create(kind="stream", of="#live", late_by=timedelta(0))
    release(x, authors=[account[0]], count=120, tags=["live"], tagged=1)
    ids = visible(x, query="#live")
    Gap.objects.create(
        source=source, from_id=min(ids) - 1, to_id=max(ids), why=why, found_at=timezone.now()
    )
    queue.schedule("source:poll", source.pk, timedelta(0))
    # Search shows posts half a minute late: it is not asked before.
    step(source)
    assert timedelta(seconds=20) < due_in(source) < timedelta(seconds=31)
    assert not asked(x, SEARCH)
    below = min(ids) - 1
    shift = 60_000 << 22
    Gap.objects.update(from_id=below - shift, to_id=max(ids) - shift)

    step(source)

    assert asked(x, SEARCH)
    assert Gap.objects.get().closed_at is not None
    assert not SourcePoll.objects.exists()
    assert Tweet.objects.count() == source.tweets.count()


def test_a_gap_of_a_list_with_an_expired_token_is_bounded_and_finally_filled(x, account):
    x.put("lists/7", {"members": [account[0]]})
    source = add("list", "7", pages=1, backfill=timedelta(minutes=1))
    release(x, authors=[account[0]], count=350)
    poll(source)
    gap = source.gaps.get()
    Gap.objects.update(token="nonsense")
    Source.objects.update(sweep=None, filling=None)
    source.refresh_from_db()

    for _ in range(2):
        step(source)  # its place is refused, and the list's head read
    assert source.gaps.get().to_id == gap.to_id
    # Nothing came of it: it waits for the next poll.
    assert due_in(source) > timedelta(minutes=1)

    poll(source)
    fill(source)
    assert visible(x, list=7) <= yielded(source)
    assert not source.gaps.filter(closed_at=None).exists()


def empty(token):
    body = {"meta": {"result_count": 0, "next_token": token}}
    return json.dumps(body).encode()


@pytest.mark.parametrize("purpose", ["poll", "gap"])
def test_endless_empty_pages_do_not_keep_new_posts_from_being_read(x, settings, peer, purpose):
    [(author, name)] = accounts(x, 1)
    release(x, authors=[author], count=40)
    source = add("account", name, account_id=author, backfill=timedelta(days=1))
    if purpose == "gap":
        poll(source)
        newest = max(yielded(source))
        source.gaps.create(from_id=newest - 9, to_id=newest, why="budget", yielded_when_found=0,
                           found_at=timezone.now())  # fmt: skip
    for n in range(31):
        peer.says_json(empty(f"t{n}"), "Content-Type: application/json")
    settings.X_API_BASE_URL = peer.asking["base_url"]

    step(source)
    assert source.sweep["purpose"] == purpose
    for _ in range(29):
        step(source)

    assert source.sweep is None
    assert source.problem == (
        "X sent 30 pages without a post, each with another to follow. The next poll begins with "
        "the newest posts again."
    )
    assert source.gaps.filter(closed_at=None).count() == (purpose == "gap")
    settings.X_API_BASE_URL = x.url
    release(x, authors=[author], count=3)
    poll(source)
    assert visible(x, author=author) <= yielded(source)
    assert source.problem == ""
