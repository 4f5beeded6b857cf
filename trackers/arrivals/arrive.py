"""Note what came in, in the transaction that stores it; nothing where nobody follows.

Locks: origins in the order of ids, after all tweets, then their jobs. The caller holds the row of
the source, or of the author (`describe` locks it): so does who begins to follow, and each of the
two sees what the other did.
"""

from __future__ import annotations

from collections.abc import Iterable

from trackers.arrivals.models import TimelineDelivery
from trackers.jobs import queue
from tweetwatch.database import array, cursor

DELIVER = TimelineDelivery.namespace

# An origin's job keeps its place in line however often it is put there: one that is always busy
# would else never have its turn. What comes while it is claimed ends the claim, and is due anew.
# Always with a new stamp: whether it is claimed is only seen as it was when the statement began,
# and who claimed it since may have read the arrivals without these.
PUT = """
    put AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT id, now(), %(stamp)s FROM waked ORDER BY id
        ON CONFLICT (key) DO UPDATE
        SET due_at = CASE WHEN {claimed} THEN now() ELSE least({job}.due_at, now()) END,
            stamp = excluded.stamp, attempts = 0
        RETURNING *
    )
    {into_buckets}
"""

# Numbers are drawn once `held` has the lock of their origin, which is kept until the commit. So of
# one origin a greater number is never seen before a smaller one, and who reads behind a mark misses
# nothing.
# The look into the index of origins comes first: where no account is followed, no tweet is read.
ARRIVE = f"""
    WITH came AS MATERIALIZED (
        SELECT origin, tweet
        FROM unnest(%(origins)s::bigint[], %(tweets)s::bigint[]) AS came(origin, tweet)
        UNION ALL
        SELECT -t.author_id, t.id
        FROM unnest(%(described)s::bigint[]) AS told(id) CROSS JOIN LATERAL (
            SELECT id, author_id FROM trackers_tweet WHERE id = told.id LIMIT 1) t
        WHERE (SELECT true FROM trackers_origin WHERE id < 0 LIMIT 1)
    ),
    held AS MATERIALIZED (
        SELECT id FROM trackers_origin WHERE id = ANY(ARRAY(SELECT DISTINCT origin FROM came))
        ORDER BY id FOR NO KEY UPDATE
    ),
    numbered AS (
        INSERT INTO trackers_arrival (origin_id, number, tweet_id, xid, horizon, came_at)
        SELECT held.id, nextval('trackers_arrival_number'), came.tweet,
               pg_current_xact_id()::text::bigint,
               pg_snapshot_xmin(pg_current_snapshot())::text::bigint, clock_timestamp()
        FROM held JOIN came ON came.origin = held.id
        RETURNING origin_id, number
    ),
    waked AS (
        UPDATE trackers_origin o SET clock = last.number
        FROM (SELECT origin_id, max(number) AS number FROM numbered GROUP BY origin_id) last
        WHERE o.id = last.origin_id
        RETURNING o.id
    ),
    {PUT}
"""

WAKE = f"""
    WITH waked AS (SELECT id FROM trackers_origin WHERE id = ANY(%(origins)s::bigint[])),
    {PUT}
"""


def arrive(pairs: Iterable[tuple[int, int]], *, described: Iterable[int] = ()) -> None:
    """Sources with the tweets that they yielded for the first time, and tweets whose author has
    become known."""
    pairs = list(pairs)
    given = {
        "origins": array(source for source, _ in pairs),
        "tweets": array(tweet for _, tweet in pairs),
        "described": array(described),
        "stamp": queue.new_stamp(),
    }
    if not pairs and given["described"] == "{}":
        return
    with cursor() as db:
        db.execute(queue.on(DELIVER, ARRIVE), given)


def wake(origins: Iterable[int]) -> None:
    """Have these origins looked at, whatever came: one of them was removed."""
    with cursor() as db:
        given = {"origins": array(sorted(origins)), "stamp": queue.new_stamp()}
        db.execute(queue.on(DELIVER, WAKE), given)
