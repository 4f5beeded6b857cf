"""What only reads is answered by a standby, if there is one that has all that it must have.

a flow ─> is a standby there, near enough, and as far as its reader was? ─> its connection takes the
place of the primary's, in this thread, until the flow is over ─> else the primary answers

What `connections["default"]` is in a thread decides for the ORM, for `tweetwatch.database` and for
`transaction.atomic` at once, so that a limit of time is never set on another connection than the
statement's. A standby is never waited for.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    connections,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from django.http import StreamingHttpResponse
from psycopg_pool import PoolTimeout

from trackers.standbys.beat import BEAT_EVERY, is_read_elsewhere
from trackers.standbys.places import LogPlace
from tweetwatch.database import LOST, DatabaseClock, Fault, cursor, fault_of, is_connection_lost

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_STANDBY, _EXPORTS = "standby", "exports"
# A standby that failed is not asked for so long.
_AWAY_FOR_S = 3.0
# Of several standbys, so many are tried for one that is near enough.
_MOST_TRIED = 3
_CLOCK_GOOD_FOR_S = 60.0
_STATE = """
    SELECT beat.timeline,
           ((CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                  ELSE pg_current_wal_insert_lsn() END) - '0/0'::pg_lsn)::bigint,
           beat.at
    FROM (SELECT) asked LEFT JOIN trackers_primarybeat beat ON true
"""


class AskPrimary(Exception):
    """What a standby says does not fit what lies elsewhere, since it is behind: raised within
    `read`, which goes on at the primary."""


@dataclass(frozen=True, slots=True)
class State:
    """What a server that is only read has."""

    place: LogPlace | None = None  # None: no beat has come
    beat_at: datetime | None = None

    def lag(self, now: datetime) -> timedelta | None:
        """How much of the primary's time is missing here; None: unknown."""
        if self.beat_at is None:
            return None
        return max(now - self.beat_at - timedelta(seconds=BEAT_EVERY), timedelta(0))

    def why_late(self, *, now: datetime, most: timedelta) -> str:
        """Why nobody may read here; empty: it is near enough."""
        lag = self.lag(now)
        if lag is None:
            return "No beat of the primary has come there: is a cluster running?"
        return f"It is {lag.total_seconds():,.0f} s behind." if lag > most else ""

    def has(self, after: LogPlace | None) -> bool:
        """Whether all is here that somebody has seen. What follows another primary may lack it."""
        if after is None or self.place is None:
            return after is None
        return self.place.timeline == after.timeline and self.place.lsn >= after.lsn


@dataclass(slots=True)
class Availability:
    """Whether the standby is read, in this process; said once, whenever that changes."""

    away_until: float = 0.0  # time.monotonic()
    why: str = ""
    late: set[str] = field(default_factory=set)  # addresses of those that are behind
    clock: DatabaseClock | None = None
    clock_until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_away(self) -> bool:
        return time.monotonic() < self.away_until

    def leave(self, why: str) -> None:
        with self.lock:
            if not self.why:
                logger.warning("everything is read from the primary: %s", why)
            self.why, self.away_until = why, time.monotonic() + _AWAY_FOR_S

    def leave_one(self, address: str, why: str) -> None:
        """Of several."""
        with self.lock:
            if address not in self.late:
                logger.warning("the standby at %s is not read: %s", address, why)
                self.late.add(address)

    def join(self, address: str) -> None:
        if self.why or address in self.late:
            with self.lock:
                if self.why:
                    logger.info("the standby is read again")
                elif address in self.late:
                    logger.info("the standby at %s is read again", address)
                self.why = ""
                self.late.discard(address)

    def now(self) -> datetime:
        """The primary's time, asked for once a minute."""
        if self.clock is None or time.monotonic() > self.clock_until:
            began = time.monotonic()
            with cursor() as db:
                row = db.execute("SELECT clock_timestamp()").fetchone()
            assert row is not None
            self.clock, self.clock_until = DatabaseClock(row[0], began), began + _CLOCK_GOOD_FOR_S
        return self.clock.now()


availability = Availability()


@dataclass(frozen=True, slots=True)
class StandbyNow:
    """How the standby that is read stands."""

    lag_seconds: float | None  # behind the primary; None: unknown
    why: str  # why everything is read from the primary, a sentence; empty: it is not


def standby_now() -> StandbyNow | None:
    """Asked of it now; None: there is none to be read."""
    if not is_read_elsewhere():
        return None
    now = availability.now()
    connection = _new_connection(_STANDBY)
    try:
        state = _read_state(connection)
    except (DatabaseError, PoolTimeout, *LOST) as error:
        return StandbyNow(None, _why_unread(error))
    finally:
        connection.close()
    lag = state.lag(now)
    seconds = round(lag.total_seconds(), 3) if lag is not None else None
    return StandbyNow(seconds, state.why_late(now=now, most=settings.READ_LAG_MOST))


def read(
    act: Callable[[], Result], *, after: LogPlace | None = None
) -> tuple[Result, LogPlace | None]:
    """What `act` returns, which only reads, and up to which place of the log; None: that of the
    primary. If the standby fails meanwhile, `act` is called again there. An answer that is streamed
    is read to its end where it began."""
    found = _find_standby(after) if is_read_elsewhere() else None
    if found is None:
        return act(), None
    connection, state = found
    is_streamed = False
    try:
        with _in_place_of_primary(connection):
            result = act()
        if isinstance(result, StreamingHttpResponse):
            is_streamed = True
            _keep(result, connection)
        else:
            # It has replayed more meanwhile, which `act` may have seen.
            state = _read_state(connection)
        return result, state.place
    except (DatabaseError, *LOST) as error:
        if not _is_the_standbys(error):
            raise
        availability.leave("It ended what was being read.")
    except AskPrimary:
        pass
    finally:
        if not is_streamed:
            connection.close()
    return act(), None


def is_on_standby() -> bool:
    """Whether this flow may be behind the primary, and may raise AskPrimary."""
    return connections[DEFAULT_DB_ALIAS].alias == _STANDBY


def read_for_export(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks, read from the server of DATABASE_EXPORT_URL, if there is one: a long COPY holds
    up the replay of a standby that pages read, or is ended by it."""
    if settings.EXPORT_DATABASE is None:
        return blocks
    closers = [blocks.close] if isinstance(blocks, Generator) else []
    return _Kept(_new_connection(_EXPORTS), blocks, closers)


@contextmanager
def _in_place_of_primary(connection: BaseDatabaseWrapper) -> Iterator[None]:
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connection
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary


class _Kept:
    """Content that is read from the connection on which it began, until the server closes it."""

    def __init__(
        self,
        connection: BaseDatabaseWrapper,
        blocks: Iterator[bytes],
        closers: Sequence[Callable[[], object]],
    ) -> None:
        self._connection, self._blocks, self._closers = connection, blocks, closers

    def __iter__(self) -> _Kept:
        return self

    def __next__(self) -> bytes:
        with _in_place_of_primary(self._connection):
            return next(self._blocks)

    def close(self) -> None:
        try:
            with _in_place_of_primary(self._connection):
                for close in self._closers:
                    close()
        finally:
            self._connection.close()


def _keep(response: StreamingHttpResponse, connection: BaseDatabaseWrapper) -> None:
    """What it closes at its end, transactions among it, is closed on this connection, too."""
    closers: list[Callable[[], object]] = response._resource_closers  # type: ignore[attr-defined]
    response._resource_closers = []  # type: ignore[attr-defined]
    content = iter(response)
    response.streaming_content = _Kept(connection, content, closers)


def _find_standby(after: LogPlace | None) -> tuple[BaseDatabaseWrapper, State] | None:
    """A connection to one that may answer now whoever has seen `after`; None: the primary does."""
    if availability.is_away:
        return None
    now = availability.now()
    database = settings.READ_DATABASE
    has_several = database is not None and "," in database["HOST"]
    why = ""
    for _ in range(_MOST_TRIED if has_several else 1):
        connection = _new_connection(_STANDBY)
        try:
            state = _read_state(connection)
        except (DatabaseError, PoolTimeout, *LOST) as error:
            connection.close()
            why = why or _why_unread(error)
            break
        late = state.why_late(now=now, most=settings.READ_LAG_MOST)
        if not late:
            availability.join(_address_of(connection))
            if state.has(after):
                return connection, state
            connection.close()
            return None
        why = late
        if has_several:
            availability.leave_one(_address_of(connection), late)
            # The pool opens another in its place, until those that are left lead to near ones.
            connection.connection.close()
        connection.close()
    availability.leave(why)
    return None


def _address_of(connection: BaseDatabaseWrapper) -> str:
    info = connection.connection.info
    return f"{info.host}:{info.port}"


def _read_state(connection: BaseDatabaseWrapper) -> State:
    """Asked of the server itself."""
    with _in_place_of_primary(connection), cursor() as db:
        row = db.execute(_STATE).fetchone()
    assert row is not None
    timeline, lsn, beat_at = row
    return State(LogPlace(timeline, lsn), beat_at) if beat_at else State()


def _new_connection(alias: str) -> BaseDatabaseWrapper:
    """One of its own, for a flow: a streamed answer keeps it."""
    of_alias = {_STANDBY: settings.READ_DATABASE, _EXPORTS: settings.EXPORT_DATABASE}[alias]
    return ConnectionHandler({DEFAULT_DB_ALIAS: {}, alias: of_alias}).create_connection(alias)


def _is_the_standbys(error: Exception) -> bool:
    """Whether the primary may answer where this failed: the standby has ended, it had to go on
    replaying, or a migration has not come there. A limit of time stays one, and what would write
    is a fault of ours."""
    if isinstance(error, InterfaceError):
        return True
    if isinstance(error, OperationalError) and is_connection_lost(error):
        return True
    if isinstance(error, ProgrammingError):
        return fault_of(error) is Fault.SCHEMA
    return fault_of(error) is Fault.CONFLICT


def _why_unread(error: BaseException) -> str:
    if isinstance(error, ProgrammingError):
        return "It lacks migrations."
    return "It cannot be reached."
