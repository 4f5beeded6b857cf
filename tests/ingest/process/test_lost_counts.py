"""What X counts in lost gaps, before a person has the archive searched for them."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from tests.ingest.polls.steps import accounts, add, asked, connect, release
from trackers.history import by_command
from trackers.ingest.sources import acts
from trackers.ingest.sources.counts import requests_to_count
from trackers.money.models import Project, Spending
from trackers.tweets.snowflake import first_id_at

pytestmark = pytest.mark.django_db(transaction=True)

ALL_COUNTS = "GET /2/tweets/counts/all"
DAY = 86_400


@pytest.fixture
def x(fakex, settings):
    return connect(fakex, settings)


def id_of(days_ago):
    at = timezone.now() - timedelta(days=days_ago)
    return first_id_at(int(at.timestamp() * 1000))


def lose(source, since, until):
    """A lost gap from so many days ago until so many."""
    lower = None if since is None else id_of(since)
    return source.gaps.create(
        from_id=lower, to_id=id_of(until), why="reach", found_at=timezone.now()
    )


@pytest.fixture
def posts(x):
    """Twelve a day for a hundred days."""
    [(author, _)] = accounts(x, 1)
    flow = {"rate": 12 / DAY, "count": 1200, "starts_in_s": -101 * DAY}
    release(x, authors=[author], tags=["poll"], tagged=1, retweets=0, **flow)
    shown = x.get("visible?from_ms=0&query=%23poll")["posts"]
    return {int(post["id"]) for post in shown if post["state"] == "live"}


@pytest.fixture
def source(x, posts):
    return add("search", "#poll")


def between(posts, gap):
    return sum((gap.from_id or 0) < id < gap.to_id for id in posts)


def test_the_posts_of_a_lost_gap_are_counted_by_pages_and_paid_for(x, posts, source):
    gap = lose(source, 75, 8)
    question = acts.asks_to_count_lost(source)

    done = acts.count_lost(source, by_command())

    gap.refresh_from_db()
    assert "That is about 3 requests, for $0.03." in question
    assert done.is_done
    # X is asked by whole seconds.
    assert abs(done.count - between(posts, gap)) <= 1
    assert gap.counted == done.count > 700
    assert requests_to_count(source) == 0
    assert [entry["billed_micro"] for entry in asked(x, ALL_COUNTS)] == [10_000] * 3
    day = Spending.objects.get()
    assert (day.archive_counts, day.archive_counts_reserved) == (3, 0)
    assert (day.money, day.counts, day.posts) == (Decimal("0.03"), 0, 0)
    assert LogEntry.objects.first().change_message.startswith("Had X count the posts that it lost")


def test_the_count_of_a_gap_is_the_cost_of_its_archive_and_is_kept(x, posts, source):
    gap = lose(source, 20, 8)
    done = acts.count_lost(source, by_command())

    again = acts.count_lost(source, by_command())

    assert (again.is_done, again.count) == (True, done.count)
    assert len(asked(x, ALL_COUNTS)) == 1
    price = done.count * Decimal("0.005")
    question = acts.asks_to_search_archive(source)
    assert f"X counts {done.count:,} of them, for about ${price:,.2f}." in question
    assert abs(done.count - between(posts, gap)) <= 1


def test_all_that_an_account_posted_is_counted_a_year_at_a_time(x, posts):
    [(author, name)] = accounts(x, 1)
    source = add("account", name, account_id=int(author), username=name)
    gap = lose(source, None, 8)
    wanted = x.get(f"visible?author={author}&from_ms=0")["posts"]
    wanted = {int(post["id"]) for post in wanted if post["state"] == "live"}
    # X's first post is of March 2006.
    since_2006 = requests_to_count(source)
    assert since_2006 > 240
    assert ", the first 12 of them now, for $0.12." in acts.asks_to_count_lost(source)

    done = acts.count_lost(source, by_command())

    assert f"The rest takes {since_2006 - 12} more requests." in done.message
    assert abs(done.count - between(wanted, gap)) <= 1
    assert done.count > 900
    acts.count_lost(source, by_command())
    assert requests_to_count(source) == since_2006 - 24


def test_a_page_that_fails_keeps_those_before_it(x, posts, source):
    gap = lose(source, 75, 8)
    Project.objects.update(money_a_day=Decimal("0.02"))

    done = acts.count_lost(source, by_command())

    gap.refresh_from_db()
    assert done.is_done
    assert "The rest takes 1 more request." in done.message
    assert "Today's budget does not allow it: a count costs $0.01." in done.message
    assert 0 < gap.counted < between(posts, gap)
    Project.objects.update(money_a_day=None)
    assert abs(acts.count_lost(source, by_command()).count - between(posts, gap)) <= 1
    assert len(asked(x, ALL_COUNTS)) == 3


def test_a_plan_without_the_archive_is_asked_once(x, posts, source):
    lose(source, 20, 8)
    x.put("faults", [{"kind": "403", "match": {"endpoint": ALL_COUNTS}}])

    refused = [acts.count_lost(source, by_command()) for _ in range(2)]

    assert [done.is_done for done in refused] == [False, False]
    assert "which not every plan has" in refused[1].message
    assert len(asked(x, ALL_COUNTS)) == 1
    assert (Spending.objects.get().archive_counts, source.gaps.get().counted) == (0, None)
