"""Turns what the stream did not bring into a gap of each source, which a poll fills from search.

A span that touches an open gap widens it; a rule's span makes the gap the rule's, which is more
specific. Locks are those of a poll's step: jobs, then sources, in the order of ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from trackers.ingest.sources.models import Gap, SourcePoll
from trackers.ingest.sources.source_events import publish_gaps
from trackers.ingest.stream.listeners import WantedRule
from trackers.jobs import queue
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_MILLISECOND = timedelta(milliseconds=1)
_STREAM_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00Z")
# A rule's age by our clock may be this much less by X's.
CLOCKS_DIFFER = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Span:
    """Between these times, by X's clock, posts may be missing."""

    begins: datetime
    ends: datetime


# The poll fills a gap once search shows all of it (next_sweep.ready_at), and returns until then. A
# poll under way sees the gap when it ends, since it locks the source's row to decide what is next.
_SCHEDULE = """
    WITH put AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT s.id, now() + %(delay)s::interval, %(stamp)s
        FROM trackers_source s WHERE s.id = ANY(%(ids)s::bigint[])
        ORDER BY s.id
        ON CONFLICT (key) DO UPDATE
        SET due_at = least({job}.due_at, excluded.due_at), stamp = excluded.stamp,
            strikes = {strikes_of}
        WHERE NOT {claimed} AND {job}.strikes < {max_strikes}
        RETURNING *
    )
    {into_buckets}
"""
_OPEN = statement(__file__, "open_gaps")


def open_gaps(
    sources: Iterable[WantedRule],
    span: Span,
    *,
    polled_in: timedelta,
    why: Gap.Why = Gap.Why.STREAM,
) -> None:
    """A gap for each source, no older than itself; its poll is due within `polled_in`."""
    begins = {one.source: max(span.begins, one.since - CLOCKS_DIFFER) for one in sources}
    ids = sorted(id for id, begin in begins.items() if begin < span.ends)
    if not ids:
        return
    params = {
        "ids": array(ids),
        "from_ids": array(id_at(begins[id]) for id in ids),
        "to_ids": array(id_at(span.ends) for _ in ids),
        "delay": polled_in,
        "stamp": queue.new_stamp(),
        "why": why.value,
    }
    with transaction.atomic(), cursor() as db:
        db.execute(queue.on(SourcePoll.queue, _SCHEDULE), params)
        publish_gaps(db.execute(_OPEN, params).fetchall(), why.value)


def id_at(at: datetime) -> int:
    """The first id of that moment by X's clock."""
    return first_id_at((at - _STREAM_EPOCH) // _MILLISECOND)
