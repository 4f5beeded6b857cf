"""The one process that listens to the stream: its lease on the stream's row, and its status.

Only the holder of the lease writes; one that was thought dead has another number and cannot.
All times are the database's.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from trackers import history
from trackers.acts import Done
from trackers.history import Actor
from trackers.ingest.stream.marks import new_mark
from trackers.ingest.stream.models import Stream
from tweetwatch.database import cursor

STREAM_NAME = "filtered"

MAKE = """
    INSERT INTO trackers_stream (name, state, because, credential, host, connects, lines,
                                 duplicates, garbled)
    VALUES (%(name)s, 'stopped', '', '', '', 0, 0, 0, 0) ON CONFLICT (name) DO NOTHING
"""
# If two come at once, the second waits for the row and then finds the lease taken. The very first
# also sets the installation's mark.
_TAKE_LEASE = """
    UPDATE trackers_stream
    SET lease = %(token)s, lease_until = now() + %(lasts)s::interval, host = %(host)s,
        pid = %(pid)s, state = 'connecting', because = '', state_since = now(),
        next_try_at = NULL, mark = CASE mark WHEN '' THEN %(mark)s ELSE mark END
    WHERE name = %(name)s AND (lease IS NULL OR lease_until IS NULL OR lease_until < now())
    RETURNING lease
"""
_RENEW = """
    UPDATE trackers_stream SET lease_until = now() + %(lasts)s::interval
    WHERE name = %(name)s AND lease = %(token)s
"""
# `state_since` stays if only the words change.
_SAY = """
    UPDATE trackers_stream
    SET state_since = CASE WHEN state = %(state)s THEN state_since ELSE now() END,
        state = %(state)s, because = %(because)s, credential = %(credential)s,
        next_try_at = now() + %(next_try)s::interval,
        lease_until = now() + %(lasts)s::interval
    WHERE name = %(name)s AND lease = %(token)s
"""
_LEAVE = """
    UPDATE trackers_stream
    SET lease = NULL, lease_until = NULL, pid = NULL, state = 'stopped', because = %(because)s,
        state_since = now(), next_try_at = NULL
    WHERE name = %(name)s AND lease = %(token)s
"""
# The fence of every other write: it also blocks anyone who would take the lease meanwhile.
_FENCE = """
    SELECT FROM trackers_stream WHERE name = %(name)s AND lease = %(token)s FOR NO KEY UPDATE
"""


# For a copy of another installation's database. Never while a process listens: its rules would no
# longer be ours.
_NEW_MARK = """
    UPDATE trackers_stream SET mark = %(mark)s
    WHERE name = %(name)s AND (lease IS NULL OR lease_until IS NULL OR lease_until < now())
"""


class DeposedError(Exception):
    """Another process has the lease: nothing more may be written."""


@dataclass(frozen=True, slots=True)
class Lease:
    token: int
    lasts: timedelta

    @property
    def params(self) -> dict[str, Any]:
        return {"name": STREAM_NAME, "token": self.token, "lasts": self.lasts}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has the lease."""

    host: str
    pid: int | None

    def __str__(self) -> str:
        return f"{self.host} {self.pid}"


def take_lease(lasts: timedelta) -> Lease | Holder:
    """The lease, or who has it; it is valid for `lasts`, renewed by each write."""
    lease = Lease(secrets.randbits(63), lasts)
    params = {**lease.params, "host": socket.gethostname()[:255], "pid": os.getpid()}
    params["mark"] = new_mark()
    with cursor() as db:
        db.execute(MAKE, params)
        if db.execute(_TAKE_LEASE, params).fetchone():
            return lease
    return _holder()


def take_new_mark(actor: Actor) -> Done:
    """Choose a new mark for the rules of this installation; while a process listens, it stays."""
    params = {"name": STREAM_NAME, "mark": new_mark()}
    with cursor() as db:
        db.execute(MAKE, params)
        if not db.execute(_NEW_MARK, params).rowcount:
            message = f"A process is listening for this database: {_holder()}. Stop it first."
            return Done(message, is_done=False)
    streams = list(Stream.objects.filter(name=STREAM_NAME))
    history.record(actor, streams, "Chose a new mark for its rules")
    return Done(f"our rules are now marked {params['mark']}; rules with other marks are left alone")


def _holder() -> Holder:
    row = Stream.objects.get(name=STREAM_NAME)
    return Holder(row.host, row.pid)


def renew(lease: Lease) -> None:
    written(_RENEW, lease)


def say(
    lease: Lease,
    state: str,
    because: str = "",
    *,
    credential: str = "",
    next_try: timedelta | None = None,
) -> None:
    """Set what the page shows about the stream; renews the lease."""
    written(
        _SAY,
        lease,
        state=state,
        because=because[:300],
        credential=credential[:60],
        next_try=next_try,
    )


def fence(lease: Lease) -> None:
    """Call before any write in a transaction; DeposedError when another has the lease."""
    written(_FENCE, lease)


def give_lease_back(lease: Lease, because: str) -> None:
    """Give the lease back, if it is still ours."""
    with cursor() as db:
        db.execute(_LEAVE, {**lease.params, "because": because[:300]})


def written(sql: str, lease: Lease, **given: Any) -> None:
    with cursor() as db:
        if db.execute(sql, {**lease.params, **given}).rowcount == 0:
            raise DeposedError
