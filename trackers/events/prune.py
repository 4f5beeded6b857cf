"""How long events and attempts are kept: whole days. An event that still waits is always kept."""

from __future__ import annotations

from datetime import datetime, timedelta

from psycopg import sql

from tweetwatch.database import cursor
from tweetwatch.partitions import DAY_SPAN, Partitioned
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count

EVENT_PARTITIONS = Partitioned("trackers_event", "received_at", DAY_SPAN)
ATTEMPT_PARTITIONS = Partitioned("trackers_attempt", "at", DAY_SPAN)

# Events this old can still be replayed or delivered again.
EVENTS_KEPT_FOR = timedelta(days=7)

# Batches have the times of their oldest and newest event, staged rows that of all their events.
# Both are few: storage limits the batches, and staged rows are spread within a second.
_WAITING = """
    SELECT EXISTS (SELECT FROM trackers_eventbatch WHERE first_at < {end} AND last_at >= {start})
        OR EXISTS (SELECT FROM trackers_staged WHERE received_at < {end} AND received_at >= {start})
"""
# What is in the default partitions, a piece at a time. The limits are literals, since for a
# parameter the planner would have to expect any number of rows.
_STRAYS = """
    DELETE FROM trackers_event_default WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_event_default
        WHERE received_at < least(%(before)s, (SELECT min(first_at) FROM trackers_eventbatch),
                                  (SELECT min(received_at) FROM trackers_staged))
        LIMIT 20000))
"""
_STRAY_ATTEMPTS = """
    DELETE FROM trackers_attempt_default WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_attempt_default WHERE at < %(before)s LIMIT 20000))
"""
_STRAYS_LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_event_default WHERE received_at < %(before)s LIMIT 100000) left_over
"""
_NO_EXCEPTION = sql.SQL("SELECT false").format()


def make_ahead(*, now: datetime) -> int:
    """Create the partitions of the coming days; return how many."""
    return EVENT_PARTITIONS.make_ahead(now=now) + ATTEMPT_PARTITIONS.make_ahead(now=now)


def prune_events(*, now: datetime) -> int:
    """Drop the days that ended longer than KEPT ago; return how many partitions."""
    dropped = 0
    for partition in EVENT_PARTITIONS.existing():
        if partition.end + EVENTS_KEPT_FOR <= now:
            times = {"start": sql.Literal(partition.start), "end": sql.Literal(partition.end)}
            dropped += EVENT_PARTITIONS.drop(
                partition.name, unless=sql.SQL(_WAITING).format(**times)
            )
    for partition in ATTEMPT_PARTITIONS.existing():
        if partition.end + EVENTS_KEPT_FOR <= now:
            dropped += ATTEMPT_PARTITIONS.drop(partition.name, unless=_NO_EXCEPTION)
    return dropped


def prune_strays(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Delete what is just as old, but in no day's partition."""
    params = {"before": now - EVENTS_KEPT_FOR}

    def piece() -> int | None:
        with cursor() as db:
            return (
                sum(db.execute(one, params).rowcount for one in (_STRAYS, _STRAY_ATTEMPTS)) or None
            )

    return in_pieces(
        "old events", piece, left=lambda: select_count(_STRAYS_LEFT, params), deadline=deadline
    )
