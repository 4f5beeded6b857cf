"""No page reads more with more tweets: each statement on its way goes by keys, whatever it is told.

Not a list of statements: whatever the product asks the database meanwhile is explained, with the
values and without.
"""

import pytest

from tests.plans import MODES, watched
from tests.timelines.homes.large_homes import fill
from tests.timelines.homes.world import BASE, DAY, bring, configure, deliver_all
from trackers.timelines import deliver, homes, removed_followers
from trackers.timelines.homes import embedding
from trackers.timelines.homes.nearby import NEAR_EACH
from trackers.timelines.models import Follower
from tweetwatch.database import compact_sql, cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db(transaction=True)

GROWING = (
    "trackers_tweet", "trackers_sourcetweet", "trackers_follow", "trackers_timedbucket",
    "trackers_sizedbucket", "trackers_timelineentry", "trackers_arrival", "trackers_origin",
)  # fmt: skip
# Homes of others: a table that holds one home alone is rightly read as a whole.
OTHERS = (
    """INSERT INTO trackers_timedbucket (follower_id, bucket, ids)
       SELECT w.id, bucket, ids FROM trackers_timedbucket CROSS JOIN trackers_follower w
       WHERE w.id <> follower_id""",
    """INSERT INTO trackers_sizedbucket (follower_id, n, ids, min_id, max_id)
       SELECT w.id, n, ids, min_id, max_id FROM trackers_sizedbucket CROSS JOIN trackers_follower w
       WHERE w.id <> follower_id""",
    "ANALYZE trackers_timedbucket, trackers_sizedbucket",
)
# As many as are near an anchor (`nearby`), which is a number of its own however many there are.
FEW = NEAR_EACH


def test_pages_deliveries_and_new_tweets_are_read_by_key(monkeypatch):
    fill()
    me = Follower.objects.order_by("pk").first().pk
    known = homes.strategies()
    for strategy in known.values():
        strategy.rebuild(me)
    with cursor() as db:
        for statement in OTHERS:
            db.execute(statement)
    clock = homes.home_page(me).clock
    middle = BASE + 100 * DAY
    source_id = next(iter(Follower.objects.get(pk=me).follows.filter(origin_id__gt=0))).source_id
    bring(source_id, BASE + 300 * DAY, BASE + 301 * DAY)

    with watched(monkeypatch) as seen:
        for strategy in known.values():
            strategy.page(me)
            strategy.page(me, before=middle)
            strategy.page(me, after=middle)
        homes.home_since(me, clock=clock)
        homes.home_since(me, BASE + 300 * DAY)
        deliver_all()

    reached = [reach for reach in seen.reached if reach.table in GROWING]
    assert {reach.mode for reach in reached} >= set(MODES)
    walked = [reach for reach in reached if reach.how == "Seq Scan" and reach.rows > 100]
    assert not walked
    assert max(reach.rows for reach in reached) <= FEW, max(reached, key=lambda one: one.rows)


def test_embedded_texts_and_hourly_tasks_are_read_by_key(monkeypatch):
    fill(followers=3)
    configure(strategy="cache", embed=["text", "author"])
    me = Follower.objects.order_by("pk").first().pk
    homes.rebuild(me)
    source_id = next(iter(Follower.objects.get(pk=me).follows.filter(origin_id__gt=0))).source_id
    bring(source_id, BASE + 300 * DAY, BASE + 301 * DAY)

    with watched(monkeypatch) as seen:
        homes.home_page(me)
        deliver_all()
        embedding.prune_hidden(deadline=Deadline.after(60))
        deliver.prune_arrivals(deadline=Deadline.after(60))
        removed_followers.prune_removed_homes()

    reached = [reach for reach in seen.reached if reach.table in GROWING]
    asked = {reach.statement for reach in reached}
    for known in (
        embedding.SELECT_EMBEDDED,
        embedding.FIRST_SEEN,
        embedding.PRUNE_EMBEDDED,
        deliver.PRUNE_ARRIVALS,
    ):
        assert any(compact_sql(known).startswith(one[:60]) for one in asked), known
    assert not [reach for reach in reached if reach.how == "Seq Scan" and reach.rows > 100]
    assert max(reach.rows for reach in reached) <= FEW, max(reached, key=lambda one: one.rows)
