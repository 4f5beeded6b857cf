"""Turns what the stream did not bring into a gap of each source, which a poll fills from search.

A hole that touches an open gap widens it; a rule's hole makes the gap the rule's, which is more
specific. Locks are those of a poll's step: jobs, then sources, in the order of ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from trackers.ingest.sources.models import Gap, SourcePoll
from trackers.ingest.sources.news import tell_gaps
from trackers.ingest.stream.listeners import WantedRule
from trackers.jobs import queue
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import array, cursor

MILLISECOND = timedelta(milliseconds=1)
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")
# A rule's age by our clock may be this much less by X's.
CLOCKS_DIFFER = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Hole:
    """Between these times, by X's clock, posts may be missing."""

    begins: datetime
    ends: datetime


# The poll fills a gap once search shows all of it (next_sweep.ready_at), and returns until then. A
# poll under way sees the gap when it ends, since it locks the source's row to decide what is next.
SCHEDULE = """
    WITH put AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT s.id, now() + %(delay)s::interval, %(stamp)s
        FROM trackers_source s WHERE s.id = ANY(%(ids)s::bigint[])
        ORDER BY s.id
        ON CONFLICT (key) DO UPDATE
        SET due_at = least({job}.due_at, excluded.due_at), stamp = excluded.stamp,
            attempts = {strikes_of}
        WHERE NOT {claimed} AND {job}.attempts < {strikes}
        RETURNING *
    )
    {into_buckets}
"""
# FOR NO KEY UPDATE: against polls that fill gaps of the same source. A gap that a poll is just
# filling is left alone, since the poll decides its end. If another gap is widened, the new version
# stops polls that had read it before.
OPEN = """
    WITH holes AS MATERIALIZED (
        SELECT s.id, s.filling_id, s.yielded, h.from_id, h.to_id
        FROM unnest(%(ids)s::bigint[], %(from_ids)s::bigint[], %(to_ids)s::bigint[])
                 AS h(id, from_id, to_id)
        JOIN trackers_source s ON s.id = h.id
        WHERE h.from_id < h.to_id
        ORDER BY s.id FOR NO KEY UPDATE OF s
    ),
    touched AS MATERIALIZED (
        SELECT g.id, g.source_id, g.from_id, g.to_id, g.why
        FROM trackers_gap g JOIN holes h ON h.id = g.source_id
        WHERE g.closed_at IS NULL AND g.why IN ('rule', 'stream')
          AND g.id IS DISTINCT FROM h.filling_id
          AND g.from_id <= h.to_id AND g.to_id >= h.from_id
          AND g.found_at > now() - interval '10 minutes'
        FOR UPDATE OF g
    ),
    kept AS MATERIALIZED (
        SELECT source_id, min(id) AS id, min(from_id) AS from_id, max(to_id) AS to_id,
               bool_or(why = 'rule') AS of_rule
        FROM touched GROUP BY source_id
    ),
    widened AS (
        UPDATE trackers_gap g
        SET from_id = least(k.from_id, h.from_id), to_id = greatest(k.to_id, h.to_id),
            why = CASE WHEN k.of_rule THEN 'rule' ELSE %(why)s END
        FROM kept k JOIN holes h ON h.id = k.source_id
        WHERE g.id = k.id
    ),
    swallowed AS (
        DELETE FROM trackers_gap
        WHERE id IN (SELECT id FROM touched) AND id NOT IN (SELECT id FROM kept)
    ),
    told AS (
        UPDATE trackers_source SET version = version + 1
        WHERE id IN (SELECT source_id FROM kept)
    )
    INSERT INTO trackers_gap (source_id, from_id, to_id, why, token, yielded_when_found, found_at)
    SELECT h.id, h.from_id, h.to_id, %(why)s, '', h.yielded, now()
    FROM holes h WHERE NOT EXISTS (SELECT FROM kept k WHERE k.source_id = h.id)
    RETURNING source_id, from_id, to_id
"""


def open_gaps(
    sources: Iterable[WantedRule],
    hole: Hole,
    *,
    polled_in: timedelta,
    why: Gap.Why = Gap.Why.STREAM,
) -> None:
    """A gap for each source, no older than itself; its poll is due within `polled_in`."""
    begins = {one.source: max(hole.begins, one.since - CLOCKS_DIFFER) for one in sources}
    ids = sorted(id for id, begin in begins.items() if begin < hole.ends)
    if not ids:
        return
    given = {
        "ids": array(ids),
        "from_ids": array(id_at(begins[id]) for id in ids),
        "to_ids": array(id_at(hole.ends) for _ in ids),
        "delay": polled_in,
        "stamp": queue.new_stamp(),
        "why": why.value,
    }
    with transaction.atomic(), cursor() as db:
        db.execute(queue.on(SourcePoll.namespace, SCHEDULE), given)
        tell_gaps(db.execute(OPEN, given).fetchall(), why.value)


def id_at(at: datetime) -> int:
    """The first id of that moment by X's clock."""
    return first_id_at((at - EPOCH) // MILLISECOND)
