"""Closed gaps and old yields are forgotten, and what the pages and the leak meter need is kept."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import TweetFactory, id_born
from tests.ingest.polls.steps import yielded
from tests.jobs.plans import explain, scans
from trackers import tasks
from trackers.dashboards.tweets.detail_views import origins
from trackers.ingest.polls import store_page
from trackers.ingest.polls.state import rules_of
from trackers.ingest.polls.store_page import Brought
from trackers.ingest.polls.sweep import Sweep
from trackers.ingest.sources.models import Gap, Source, SourceTweet
from trackers.ingest.sources.prune import (
    PRUNE_GAPS,
    PRUNE_YIELDS,
    prune_closed_gaps,
    prune_old_yields,
)
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)
LATER, OVER = Deadline.after(3600), Deadline.after(0)


@pytest.fixture
def source():
    return Source.objects.create(kind="account", of="nasa")


def gap(source, *, closed=None, why="budget"):
    now = timezone.now()
    return Gap.objects.create(
        source=source,
        to_id=9,
        why=why,
        found_at=now - 99 * DAY,
        closed_at=None if closed is None else now - closed,
    )


def bring(source, ids, *, ago, late=False):
    at = timezone.now() - ago
    rows = [SourceTweet(source=source, tweet_id=id, seen_at=at, late=late) for id in ids]
    SourceTweet.objects.bulk_create(rows)


def prune(deadline=LATER):
    return prune_old_yields(now=timezone.now(), deadline=deadline)


def test_gaps_are_pruned_a_month_after_closing(source):
    kept = {
        gap(source).pk,
        gap(source, why="reach").pk,
        gap(source, closed=29 * DAY).pk,
    }
    gap(source, closed=31 * DAY)
    gap(source, closed=98 * DAY)

    assert prune_closed_gaps(now=timezone.now(), deadline=LATER).rows == 2
    assert set(Gap.objects.values_list("pk", flat=True)) == kept


def test_yields_are_pruned_after_three_months_except_the_newest_hundred_of_a_source(source):
    other = Source.objects.create(kind="account", of="esa")
    bring(source, range(1, 251), ago=91 * DAY)
    bring(source, range(251, 261), ago=89 * DAY)
    bring(other, range(1, 81), ago=91 * DAY)

    worked = prune()

    assert worked.rows == 160
    assert yielded(source) == set(range(161, 261))
    assert yielded(other) == set(range(1, 81)), "a quiet source keeps what its page shows"
    assert prune().rows == 0


def test_late_yields_are_kept_for_the_leak_meter(source):
    bring(source, [1, 2], ago=91 * DAY, late=True)
    bring(source, range(3, 203), ago=91 * DAY)

    prune()

    assert yielded(source) == {1, 2, *range(103, 203)}


def test_the_first_source_of_a_tweet_is_kept(source, client, admin_user):
    TweetFactory(id=1, came_from=str(source))
    bring(source, range(1, 111), ago=91 * DAY)
    client.force_login(admin_user)

    prune()

    assert origins(1) == []
    assert "from @nasa" in client.get("/tweets/1/", follow=True).content.decode()


def test_without_time_the_rest_is_counted_and_left_for_the_next_run(source):
    # Of one transaction each: none of it is left behind.
    for number in range(3):
        first = 1 + number * 4000
        bring(source, range(first, first + 4000), ago=(95 - number) * DAY)

    first = prune(OVER)

    assert (first.rows, first.left) == (8000, 4000)
    assert prune().rows == 3900
    assert yielded(source) == set(range(11_901, 12_001))


def test_a_pruned_post_shown_again_by_a_list_is_no_leak(source):
    now = timezone.now()
    source.latest_id = source.passed_id = id_born(now)
    rules = rules_of(source, tasks.polling())
    # Neither the page nor what it was asked for plays a part.
    page = Brought(None, None, Sweep("poll", None, None, 1), rules, now)
    old, young = id_born(now - 91 * DAY), id_born(now - 89 * DAY)

    new, late = store_page.yielded(source, {old: old, young: young}, page)

    assert new == {old, young}
    assert late == {young}


MANY_GAPS = """
    INSERT INTO trackers_gap (source_id, to_id, why, token, yielded_when_found, found_at, closed_at)
    SELECT %(source)s, 9, 'budget', '', 0, at, CASE WHEN n %% 50 > 0 THEN at END
    FROM generate_series(1, %(count)s) n,
         LATERAL (SELECT now() - n %% 400 * interval '1 day' AS at) times
"""
MANY_YIELDS = """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT %(source)s, n, now() - (%(count)s - n) * interval '200 days' / %(count)s, n %% 1000 = 0
    FROM generate_series(1, %(count)s) n
"""


def fill(statement, source, count):
    with cursor() as db:
        db.execute(statement, {"source": source.pk, "count": count})
        db.execute("ANALYZE trackers_gap, trackers_sourcetweet")


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan"])
def test_closed_gaps_are_found_by_their_index(source, mode):
    fill(MANY_GAPS, source, 200_000)
    params = {"before": timezone.now() - 30 * DAY}
    with cursor() as db:
        db.execute(f"SET plan_cache_mode = {mode}")
        for _ in range(7):
            assert db.execute(PRUNE_GAPS, params).rowcount == 5000

    scanned = scans(explain(PRUNE_GAPS, params), "trackers_gap")

    assert ("Index Scan", "gap_closed") in scanned
    assert ("Tid Scan", "") in scanned
    assert not {"Seq Scan", "Bitmap Heap Scan"} & {kind for kind, _ in scanned}


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan"])
def test_old_yields_are_found_by_their_index(source, mode):
    fill(MANY_YIELDS, source, 200_000)
    params = {"before": timezone.now() - 90 * DAY, "after": "-infinity"}
    with cursor() as db:
        db.execute(f"SET plan_cache_mode = {mode}")
        for _ in range(7):
            db.execute(PRUNE_YIELDS, params)

    scanned = scans(explain(PRUNE_YIELDS, params), "trackers_sourcetweet")

    assert ("Index Scan", "sourcetweet_seen") in scanned
    assert ("Tid Scan", "") in scanned
    assert not {"Seq Scan", "Bitmap Heap Scan"} & {kind for kind, _ in scanned}
