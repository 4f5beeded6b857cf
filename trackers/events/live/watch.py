"""Watching a topic has its events recorded for a while, which each stream and each page extends.

Our own parts record events only in topics that somebody wants; for watchers they check one more
column of a row that they read anyway. A topic that was not watched until now gets a mark in the
feed: a reader that comes back from before the mark is told that something is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta

from django.db import transaction

from trackers.events.fan_out import LOCK, NUMBER
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, in_pieces

_TOPIC_NAME = re.compile(r"[a-z_]{1,64}")
# Counted from the start of the last stream: a reader may be away for this long and miss nothing.
_WATCHED = timedelta(minutes=10)
# A topic's row is updated at most this often.
_RENEWED = timedelta(minutes=1)
# With less time left than this, a transaction that looked before the renewal was committed may have
# recorded nothing: the topic then counts as unwatched.
_DOUBTFUL = timedelta(minutes=1)
# How long the feed is kept.
FEED_KEPT_FOR = timedelta(hours=1)

_TOPICS = """
    SELECT name, id, (watched_until > clock_timestamp() + %(enough)s) IS TRUE
    FROM trackers_topic WHERE name = ANY(%(names)s)
"""
# Under the lock of the spread: whatever is spread after this is in the feed. clock_timestamp(),
# since it may have waited for the lock. Locks topics in the order of names, as everywhere.
_WATCH = """
    WITH topic AS MATERIALIZED (
        SELECT id, (watched_until > clock_timestamp() + %(doubtful)s) IS TRUE AS was_watched
        FROM trackers_topic WHERE id = ANY(%(topics)s) ORDER BY name FOR NO KEY UPDATE
    ),
    mark AS (
        INSERT INTO trackers_liveevents (place, spread_at, first_at, last_at, topics, events)
        SELECT %(number)s::bigint << 20, clock_timestamp(), clock_timestamp(), clock_timestamp(),
               array_agg(id), '{}'
        FROM topic WHERE NOT was_watched HAVING count(*) > 0
    )
    UPDATE trackers_topic t SET watched_until = clock_timestamp() + %(watched)s
    FROM topic WHERE t.id = topic.id
"""

# From the front, along the key, rows whose successor is also older than KEPT. The newest of the old
# rows stays, so that a reader that was away for too long can be recognized.
# The limits are literals, since for a parameter the planner would have to expect any number.
PRUNE_FEED = """
    DELETE FROM trackers_liveevents WHERE place = ANY(ARRAY(
        SELECT place FROM (
            SELECT place, lead(spread_at) OVER (ORDER BY place) AS next_at
            FROM (SELECT place, spread_at FROM trackers_liveevents ORDER BY place LIMIT 1001) first
        ) oldest
        WHERE next_at < clock_timestamp() - %(kept)s
    ))
"""


def watch(names: Iterable[str]) -> Mapping[str, int]:
    """Have the events of these topics recorded from now on; return the topics' ids. ValueError if
    one does not exist; nothing is changed then."""
    wanted = set(names)
    params = {"names": sorted(filter(_TOPIC_NAME.fullmatch, wanted)), "enough": _WATCHED - _RENEWED}
    with cursor() as db:
        rows = db.execute(_TOPICS, params).fetchall()
    if unknown := wanted - {name for name, _, _ in rows}:
        raise ValueError(f"There is no topic {min(unknown)[:64]!r}.")
    if not all(is_watched for _, _, is_watched in rows):
        _prolong([id for _, id, _ in rows])
    return {name: id for name, id, _ in rows}


def _prolong(topics: list[int]) -> None:
    with transaction.atomic(), cursor() as db:
        db.execute(LOCK)
        number = db.execute(NUMBER).fetchone()
        assert number is not None
        params = {"topics": topics, "number": number[0], "watched": _WATCHED, "doubtful": _DOUBTFUL}
        db.execute(_WATCH, params)


def prune_feed(*, deadline: Deadline) -> None:
    """Delete what is older than an hour."""

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(PRUNE_FEED, {"kept": FEED_KEPT_FOR}).rowcount or None

    # What is left is deleted the next minute.
    in_pieces("the live feed", piece, left=lambda: 0, deadline=deadline)
