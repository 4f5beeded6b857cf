"""An overlap, however deep, keeps no poll waiting; and once a week it goes deeper."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.polls.steps import (
    add,
    asked,
    poll,
    release,
    step,
    visible,
    yielded,
)
from trackers.ingest.polls.next_sweep import deep_overlap_is_due
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source

pytestmark = pytest.mark.django_db(transaction=True)

TIMELINE = "GET /2/users/:id/tweets"
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def begin_overlap(source, **when):
    """Poll it once more, with an overlap due after that."""
    Source.objects.update(**{"overlapped_at": timezone.now() - 2 * DAY, **when})
    poll(source)
    assert source.sweep["purpose"] == "overlap"


def end_overlap(source):
    for _ in range(30):
        if not source.sweep and not source.resting:
            return
        step(source)
    raise AssertionError(f"the overlap is not over: {source.sweep}, {source.resting}")


def test_an_overlap_yields_to_a_poll_between_pages_and_continues(x, account):
    release(x, authors=[account[0]], count=450, starts_in_s=-60)
    source = add("account", account[1])
    poll(source)
    begin_overlap(source)
    step(source)
    assert source.sweep["pages"] == 1
    x.delete("log")

    new = visible(x, author=account[0])
    release(x, authors=[account[0]], count=5)
    new = visible(x, author=account[0]) - new
    life.poll_now([source.pk])
    step(source)
    assert (source.sweep["purpose"], source.resting["pages"]) == ("poll", 2)
    step(source)

    assert new <= yielded(source)
    assert (source.sweep["purpose"], source.sweep["pages"]) == ("overlap", 2)
    assert source.resting is None
    end_overlap(source)
    assert timezone.now() - source.overlapped_at < timedelta(minutes=1)
    shown = [id for entry in asked(x, TIMELINE) for id in map(int, entry["shown"])]
    assert len(shown) == len(set(shown)) >= 355, "no page was read twice"
    assert visible(x, author=account[0]) <= yielded(source)
    assert source.leaked == 0


def test_a_constantly_due_poll_leaves_the_overlap_one_page_each_time(x, account):
    release(x, authors=[account[0]], count=450, starts_in_s=-60)
    source = add("account", account[1])
    poll(source)
    begin_overlap(source)

    pages = []
    before = source.overlapped_at
    while source.overlapped_at == before:
        life.poll_now([source.pk])
        step(source)
        pages.append((source.sweep or {}).get("purpose"))
        assert len(pages) < 40

    assert pages.count("poll") >= 4


def test_once_a_week_the_overlap_reaches_back_a_day(x, account, settings):
    settings.OVERLAP_DEPTH, settings.OVERLAP_WEEKLY_DEPTH = HOUR, DAY
    long_ago = timezone.now() - 8 * DAY
    source = add("account", account[1], late_by=timedelta(0), backfill=2 * DAY)
    poll(source)
    release(x, authors=[account[0]], count=20)
    poll(source)
    before = visible(x, author=account[0])
    # Born three hours ago, and only now to be seen.
    x.tell("POST", "posts", {"authors": [account[0]], "starts_in_s": -10_800, "count": 9,
                             "rate": 10})  # fmt: skip
    hidden = visible(x, author=account[0]) - before
    assert hidden

    begin_overlap(source)
    end_overlap(source)
    assert not hidden & yielded(source)
    assert source.deep_overlapped_at is None
    begin_overlap(source, created_at=long_ago)
    assert source.sweep["is_deep"]
    end_overlap(source)

    assert hidden <= yielded(source)
    assert source.leaked == len(hidden)
    assert timezone.now() - source.deep_overlapped_at < timedelta(minutes=1)
    begin_overlap(source)
    assert not source.sweep["is_deep"]


@pytest.mark.parametrize(
    ("since_made", "since_deep", "is_due"),
    [
        pytest.param(6.9, None, False, id="a source of this week"),
        pytest.param(7.1, None, True, id="never, and a week old"),
        pytest.param(90, 6.9, False, id="this week"),
        pytest.param(90, 7.1, True, id="last week"),
    ],
)
def test_the_deep_overlap_is_due_a_week_after_the_last_one(since_made, since_deep, is_due):
    now = timezone.now()
    deep = None if since_deep is None else now - since_deep * DAY
    source = Source(created_at=now - since_made * DAY, deep_overlapped_at=deep)

    assert deep_overlap_is_due(source, now=now) is is_due
