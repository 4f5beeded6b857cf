"""What a person does to tracked tweets: pause, resume, check now, untrack.

Locks: the job's row, then the tweet's, in the order of ids, like the save.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from django.db import transaction

from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.outbox.staging import SELECT_TWEETS_TOPIC, STAGED, TOPIC, later
from trackers.tweets.archive.erase import ERASE_ARCHIVED, UNTRACKING
from trackers.tweets.presence import counting_presences
from trackers.tweets.uncounted import noting_uncounted
from tweetwatch.database import cursor
from tweetwatch.pieces import share_work

# Locks are taken in the order of ids in the subquery: an UPDATE alone locks in its plan's order.
# LATERAL: by the primary key, whatever the statistics say.
_PAUSE = """
    UPDATE trackers_tweet t SET paused = true
    FROM (SELECT held.id FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
              SELECT id FROM trackers_tweet WHERE id = asked.id AND NOT paused FOR UPDATE) held
         ) held
    WHERE t.id = held.id
"""

_PAUSED = "SELECT id FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[]) AND paused"
_RESUME = """
    UPDATE trackers_tweet t SET paused = false
    FROM (SELECT held.id FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
              SELECT id FROM trackers_tweet WHERE id = asked.id AND paused FOR UPDATE) held
         ) held
    WHERE t.id = held.id
"""

# A claimed tweet is skipped: it is being looked up already. A resting one gets one look-up, an
# isolated one another four tries. Urgent, since a person waits for it: under backlog "now" could
# otherwise be hours away.
# A tweet that is due already keeps its place in line, to the second.
_CHECK_NOW = """
    WITH put AS (
        INSERT INTO {job} (key, due_at, urgent, stamp)
        SELECT id, now(), %(urgent)s, %(stamp)s + (row_number() OVER (ORDER BY id)) / {bucket_keys}
        FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[]) AND NOT paused ORDER BY id
        ON CONFLICT (key) DO UPDATE
        SET due_at = least(date_trunc('second', {job}.due_at), now()), stamp = excluded.stamp,
            strikes = 0, urgent = {job}.urgent OR excluded.urgent
        WHERE NOT {claimed}
        RETURNING *
    ),
    found AS ({into_buckets})
    SELECT count(*) FROM put
"""
# A check of more than this many is not urgent: it would displace the youngest.
_MAX_URGENT = 1000

# First: a worker may be writing the text, which it does before it saves and without the job's lock.
# What it has written by then is deleted too; whoever comes later finds no tweet. Those that were
# merged into one of these are written as well.
_LOCK_TWEETS = """
    SELECT FROM (
        SELECT unnest(%(ids)s::bigint[]) AS id
        UNION SELECT id FROM trackers_tweet WHERE version_of = ANY(%(ids)s::bigint[])
        ORDER BY id
    ) asked CROSS JOIN LATERAL (
        SELECT FROM trackers_tweet WHERE id = asked.id FOR UPDATE) held
"""
_DELETE_ROWS_FIRST = (
    "UPDATE trackers_tweet SET version_of = NULL WHERE version_of = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_tweetversion WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_sample WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_packedsamples WHERE tweet_id = ANY(%(ids)s::bigint[])",
    # After those, which wait for rows that are being archived.
    ERASE_ARCHIVED,
    "DELETE FROM trackers_checkpoint WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_packedcheckpoints WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_tweettext WHERE tweet_id = ANY(%(ids)s::bigint[])",
)
# A tweet that is gone already had its `delete` event.
_UNTRACKED = counting_presences("SELECT id, presence AS before, NULL AS after FROM forgotten")
_UNCOUNTED = noting_uncounted("SELECT id FROM forgotten")
_UNTRACK = f"""
    WITH forgotten AS (
        DELETE FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[])
        RETURNING id, gone_at, greatest(measured_until, tracked_at) AS since,
                  trackers_presence_v1(missing_reason, paid_on) AS presence
    ),
    counted AS ({_UNTRACKED}),
    uncounted AS ({_UNCOUNTED}),
    {TOPIC},
    told AS (
        INSERT INTO trackers_event (topic_id, type, t, tweet_id)
        SELECT ({SELECT_TWEETS_TOPIC}), 'delete', {later("now()", "since")}, id
        FROM forgotten WHERE ({SELECT_TWEETS_TOPIC}) IS NOT NULL AND gone_at IS NULL
        ORDER BY id
        RETURNING id
    ),
    {STAGED}
    SELECT count(*) FROM forgotten
"""
# Last: until the tweet is deleted, a measurement may add a crossing, and a person a tag
# or a note.
_DELETE_ROWS_LAST = (
    "DELETE FROM trackers_score WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_crossing WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_tweettag WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_happening WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_note WHERE kind = 'tweet' AND key = ANY(%(ids)s::bigint[]::text[])",
)


def pause_tweets(ids: Iterable[int]) -> int:
    """Stop looking them up until they are resumed; return how many were not paused before."""
    ids = sorted(ids)
    with transaction.atomic():
        queue.remove_keys(TWEET_UPDATE, ids)
        with cursor() as db:
            return db.execute(_PAUSE, {"ids": ids}).rowcount


def resume_tweets(ids: Iterable[int]) -> int:
    """Look them up again, from now on; return how many were paused."""
    with transaction.atomic(), cursor() as db:
        paused = sorted(row[0] for row in db.execute(_PAUSED, {"ids": list(ids)}))
        # First, for the order of locks; a concurrent pause removes the job again.
        queue.schedule_many(TWEET_UPDATE, ((id, timedelta(0)) for id in paused))
        return db.execute(_RESUME, {"ids": paused}).rowcount


def check_now(ids: Iterable[int]) -> int:
    """Make them due now, ahead of a backlog; return how many will be looked up."""
    ids = sorted(ids)
    params = {"ids": ids, "urgent": len(ids) <= _MAX_URGENT, "stamp": queue.new_stamp()}
    return _execute_and_count(_CHECK_NOW, params)


def check_in_turn(ids: Iterable[int]) -> int:
    """Make them due now, each at its place in line; return how many will be looked up."""
    return _execute_and_count(
        _CHECK_NOW, {"ids": sorted(ids), "urgent": False, "stamp": queue.new_stamp()}
    )


def _execute_and_count(query: str, params: Mapping[str, object]) -> int:
    with cursor() as db:
        row = db.execute(queue.on(TWEET_UPDATE, query), params).fetchone()
    assert row is not None
    return int(row[0])


def untrack_tweets(ids: Iterable[int]) -> int:
    """Delete the tweets and all their samples; return how many there were."""
    ids = sorted(ids)
    with transaction.atomic():
        # First, while nobody waits for a lock of this transaction.
        share_work(UNTRACKING)
        queue.remove_keys(TWEET_UPDATE, ids)
        with cursor() as db:
            for statement in (_LOCK_TWEETS, *_DELETE_ROWS_FIRST):
                db.execute(statement, {"ids": ids})
            forgotten = db.execute(_UNTRACK, {"ids": ids}).fetchone()
            for statement in _DELETE_ROWS_LAST:
                db.execute(statement, {"ids": ids})
    assert forgotten is not None
    return int(forgotten[0])
