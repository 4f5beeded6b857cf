"""Posts that appear late: below k they are found, and above it they are counted, to the post."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.ingest.polls.process.test_poll import source_of
from tests.ingest.polls.steps import add, poll, release, step, visible, yielded
from tests.stored_events import events_of, subscribe
from trackers.ingest.sources.models import Source, SourceTweet

pytestmark = pytest.mark.django_db(transaction=True)

# So late that no machine is slow enough for them to appear by themselves: X's clock is turned.
LATE = timedelta(minutes=5)
LATE_MS = LATE // timedelta(milliseconds=1)


def release_late(x, account, count, **flow):
    """Posts that appear five minutes after their birth; their ids."""
    lag = {"late_share": 1, "late_ms": [LATE_MS, LATE_MS], "very_late_share": 0}
    before = visible(x, until_ms=10**15)
    given = {"authors": [account[0]], "rate": 1e6, "count": count, "lag": lag}
    x.tell("POST", "posts", given | flow)
    return visible(x, until_ms=10**15) - before


def wait_for(x, ids):
    x.put("clock", {"ahead_s": LATE.total_seconds() + 1})
    end = time.monotonic() + 60
    while not ids <= visible(x):
        assert time.monotonic() < end, "they did not appear"
        time.sleep(0.05)


FLOW = {"mentions": 1, "tags": ["poll"], "tagged": 1, "retweets": 0}


@pytest.mark.parametrize(
    "kind",
    [
        "account",
        "list",
        *(pytest.param(kind, marks=pytest.mark.more) for kind in ("mentions", "search")),
    ],
)
def test_posts_less_than_k_late_are_found_by_the_next_poll(x, account, kind):
    source, which = source_of(kind, x, account, late_by=2 * LATE)
    late = release_late(x, account, 7, **FLOW)
    release(x, authors=[account[0]], count=20, starts_in_s=0, **FLOW)
    poll(source)
    time.sleep(1.2)  # the ids of the next ones are later by more than what X's Date is cut by
    release(x, authors=[account[0]], count=20, starts_in_s=0, **FLOW)
    poll(source)
    assert not late & yielded(source)

    wait_for(x, late)
    poll(source)

    assert late <= yielded(source)
    assert visible(x, **which) <= yielded(source)
    assert source.leaked == 0


def test_posts_later_than_k_are_found_by_the_overlap_as_leaks(x, account):
    subscribe("sources")
    source, which = source_of("account", x, account, late_by=timedelta(0))
    late = release_late(x, account, 7)
    release(x, authors=[account[0]], count=20, starts_in_s=0)
    poll(source)
    time.sleep(2.2)
    release(x, authors=[account[0]], count=20, starts_in_s=0)
    poll(source)
    wait_for(x, late)
    poll(source)
    assert not late & yielded(source)
    assert source.leaked == 0

    Source.objects.update(overlapped_at=timezone.now() - timedelta(days=2))
    poll(source)
    for _ in range(10):
        if not source.sweep:
            break
        step(source)

    assert visible(x, **which) <= yielded(source)
    assert source.leaked == 7
    leaks = [one.data for one in events_of("sources") if one.data["what"] == "leak"]
    assert sorted(int(id) for leak in leaks for id in leak["tweets"]) == sorted(late)
    assert set(SourceTweet.objects.filter(late=True).values_list("tweet_id", flat=True)) == late
    assert timezone.now() - source.overlapped_at < timedelta(minutes=1)


def test_an_overlap_counts_nothing_that_lies_in_a_gap_or_before_the_first_poll(x, account):
    release(x, authors=[account[0]], count=30)
    time.sleep(0.01)
    source = add("account", account[1], backfill=timedelta(0), late_by=timedelta(0), pages=1)
    poll(source)
    older = visible(x, author=account[0])
    # Over more than a millisecond: the cursor, which has whole ones, passes those of the gap.
    release(x, authors=[account[0]], count=250, rate=1000)
    poll(source)
    [gap] = source.gaps.all()
    # Nobody fills it meanwhile.
    source.gaps.update(why="reach")
    Source.objects.update(
        sweep=None, filling=None, overlapped_at=timezone.now() - timedelta(days=2)
    )

    source.refresh_from_db()
    poll(source)
    for _ in range(20):
        if not source.sweep:
            break
        step(source)

    assert older <= yielded(source)
    assert visible(x, author=account[0]) <= yielded(source)
    assert gap.to_id > max(older)
    assert source.leaked == 0
