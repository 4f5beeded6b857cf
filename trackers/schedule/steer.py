"""What a person does to tracked tweets: pause, resume, refresh now, untrack, retry.

Locks: the job's row, then the tweet's, in the order of ids, as the save takes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction

from trackers.jobs import queue
from trackers.schedule.namespace import TWEET_UPDATE
from tweetwatch.database import cursor

PAUSE = """
    UPDATE trackers_tweet SET paused = true
    WHERE id = ANY(%(ids)s::bigint[]) AND NOT paused
"""

RESUME = """
    UPDATE trackers_tweet SET paused = false
    WHERE id = ANY(%(ids)s::bigint[]) AND paused
    RETURNING id
"""

# What is claimed is being looked up already. A resting tweet gets one look.
REFRESH = """
    INSERT INTO {job} (key, due_at, lease, attempts)
    SELECT id, now(), NULL, 0 FROM trackers_tweet
    WHERE id = ANY(%(ids)s::bigint[]) AND NOT paused ORDER BY id
    ON CONFLICT (key) DO UPDATE SET due_at = least({job}.due_at, now()), attempts = 0
    WHERE {job}.lease IS NULL
"""

RETRY = """
    UPDATE {job} SET due_at = now(), lease = NULL, attempts = 0
    WHERE key = ANY(%(ids)s::bigint[]) AND attempts >= 4
"""

FORGET = (
    "DELETE FROM trackers_sample WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_packedsamples WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_tweettext WHERE tweet_id = ANY(%(ids)s::bigint[])",
    "DELETE FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[])",
)


def pause(ids: Iterable[int]) -> int:
    """Stop looking them up until they are resumed; how many were not paused before."""
    ids = sorted(ids)
    with transaction.atomic():
        queue.remove(TWEET_UPDATE, ids)
        with cursor() as db:
            return db.execute(PAUSE, {"ids": ids}).rowcount


def resume(ids: Iterable[int]) -> int:
    """Look them up again, beginning now; how many were paused."""
    with transaction.atomic():
        with cursor() as db:
            resumed = [row[0] for row in db.execute(RESUME, {"ids": sorted(ids)})]
        return queue.schedule_many(TWEET_UPDATE, ((id, timedelta(0)) for id in resumed))


def refresh_now(ids: Iterable[int]) -> int:
    """Make them due now; how many there are to look up."""
    with cursor() as db:
        return db.execute(queue.on(TWEET_UPDATE, REFRESH), {"ids": sorted(ids)}).rowcount


def retry_isolated(ids: Iterable[int]) -> int:
    """Give isolated look-ups another four tries; how many were isolated."""
    with cursor() as db:
        return db.execute(queue.on(TWEET_UPDATE, RETRY), {"ids": sorted(ids)}).rowcount


def untrack(ids: Iterable[int]) -> int:
    """Forget the tweets and all their samples; how many there were."""
    ids = sorted(ids)
    with transaction.atomic():
        queue.remove(TWEET_UPDATE, ids)
        forgotten = 0
        with cursor() as db:
            for statement in FORGET:
                forgotten = db.execute(statement, {"ids": ids}).rowcount
        return forgotten
