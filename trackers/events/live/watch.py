"""Who watches has events recorded: for a while, which each stream and each page prolongs.

What our own parts do is recorded only in topics that somebody wants, so a publisher looks at one
more column of a row that it reads anyway. A topic that nobody watched until now gets a mark in the
feed: whoever was here before, and comes back behind it, is told that something is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta

from django.db import transaction

from trackers.events.spread import LOCK, NUMBER
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, in_pieces

NAME = re.compile(r"[a-z_]{1,64}")
# From the last stream's begin. So long a reader may be away, and find all that came meanwhile.
WATCHED = timedelta(minutes=10)
# A topic is written once a minute at the most.
RENEWED = timedelta(minutes=1)
# What is still watched for less may be missed by a transaction that looked before the renewal was
# committed: then it was not watched.
DOUBTFUL = timedelta(minutes=1)
# How long the feed is kept.
KEPT = timedelta(hours=1)

TOPICS = """
    SELECT name, id, (watched_until > clock_timestamp() + %(enough)s) IS TRUE
    FROM trackers_topic WHERE name = ANY(%(names)s)
"""
# Under the lock of the spread, whose statement has no other time: what is spread later is in the
# feed. clock_timestamp(), since the lock was waited for. Topics in the order of names, as others.
WATCH = """
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

# From the front, along the key, those behind which another one is as old: the newest of the old
# ones stays, by which a reader is known who was away for too long.
# The limits are literals: one that the planner does not know might as well be all of them.
FORGET = """
    DELETE FROM trackers_liveevents WHERE place = ANY(ARRAY(
        SELECT place FROM (
            SELECT place, lead(spread_at) OVER (ORDER BY place) AS next_at
            FROM (SELECT place, spread_at FROM trackers_liveevents ORDER BY place LIMIT 1001) first
        ) oldest
        WHERE next_at < clock_timestamp() - %(kept)s
    ))
"""


def watch(names: Iterable[str]) -> Mapping[str, int]:
    """Have what is told in these topics recorded from now on; their ids. ValueError: there is no
    such topic, and nothing was changed."""
    wanted = set(names)
    given = {"names": sorted(filter(NAME.fullmatch, wanted)), "enough": WATCHED - RENEWED}
    with cursor() as db:
        rows = db.execute(TOPICS, given).fetchall()
    if unknown := wanted - {name for name, _, _ in rows}:
        raise ValueError(f"There is no topic {min(unknown)[:64]!r}.")
    if not all(is_watched for _, _, is_watched in rows):
        prolong([id for _, id, _ in rows])
    return {name: id for name, id, _ in rows}


def prolong(topics: list[int]) -> None:
    with transaction.atomic(), cursor() as db:
        db.execute(LOCK)
        number = db.execute(NUMBER).fetchone()
        assert number is not None
        given = {"topics": topics, "number": number[0], "watched": WATCHED, "doubtful": DOUBTFUL}
        db.execute(WATCH, given)


def forget_old(*, deadline: Deadline) -> None:
    """Delete what is older than an hour."""

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(FORGET, {"kept": KEPT}).rowcount or None

    # What is left is deleted the next minute.
    in_pieces("the live feed", piece, left=lambda: 0, deadline=deadline)
