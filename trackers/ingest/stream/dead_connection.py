"""X may still count a connection that has died, and then allows no other for minutes.

too many connections ─> X's list ─> the one that was ours ─> X ends it ─> connect again
Only a connection that began when our last one did is ended: another program's is left alone.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.lease import Lease
from trackers.ingest.stream.models import Stream
from trackers.ingest.stream.requests import Asker, NoTurnError
from trackers.xapi.endpoints import CONNECTIONS, END_CONNECTIONS
from trackers.xapi.errors import XError
from trackers.xapi.stream_connections import (
    CountedConnection,
    CountedConnections,
    counted_connections,
    end_connection,
)

logger = logging.getLogger(__name__)

# X counts from when it takes the request to when it sends the reply, which we date.
_SAME_WITHIN = timedelta(seconds=3)
# Once: if X counts it all the same, asking again would end nothing.
_ASKED_TO_END = (
    "UPDATE trackers_stream SET opened_at = NULL WHERE name = %(name)s AND lease = %(token)s"
)


def end_dead_connection(asker: Asker) -> bool:
    """Whether X ended a connection that was ours and is dead: only one process of ours listens, and
    it is about to connect."""
    opened_at = Stream.objects.values_list("opened_at", flat=True).get(
        name=stream_lease.STREAM_NAME
    )
    if opened_at is None:
        return False
    try:
        counted = asker.ask(CONNECTIONS, counted_connections, is_optional=True)
        ours = _of_ours(counted, opened_at)
        if ours is None:
            return False
        _mark_asked(asker.lease)
        ended = asker.ask(END_CONNECTIONS, end_connection, is_optional=True, id=ours.id)
    except (NoTurnError, XError) as error:
        logger.info("X was not asked to end a dead connection of the stream: %s", error)
        return False
    return ended.count > 0


def _of_ours(counted: CountedConnections, opened_at: datetime) -> CountedConnection | None:
    """The one that began when ours did; None where that is none, or several."""
    alike = [one for one in counted.connections if abs(one.since - opened_at) <= _SAME_WITHIN]
    return alike[0] if len(alike) == 1 else None


def _mark_asked(lease: Lease) -> None:
    stream_lease.written(_ASKED_TO_END, lease)
