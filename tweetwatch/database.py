"""A psycopg cursor on Django's connection, for SQL that the ORM cannot express.

Unlike Django's own cursors it binds on the server and prepares statements. It is in the same
transaction as the ORM, and raises Django's errors (`django.db.OperationalError`, …).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Self, TypeVar

import psycopg
from django.db import InterfaceError, InternalError, OperationalError, connection
from psycopg.types.datetime import TimestamptzLoader

T = TypeVar("T")

# The database is away, overloaded, or read-only: it will recover after a while.
LOST = (OperationalError, InterfaceError, InternalError)


Cursor = psycopg.Cursor[tuple[Any, ...]]


class LoggedCursor(Cursor):
    """Enters its statements in Django's log of queries, while somebody reads it.

    Django's own cursors do so, and tests count by it. Parameters, which may be secrets, stay out.
    """

    def execute(self, query: Any, *args: Any, **how: Any) -> Self:
        connection.queries_log.append({"sql": str(query), "time": "0.000"})
        return super().execute(query, *args, **how)


class Idle(threading.local):
    """This thread's cursors that wait for their next use.

    Making a cursor takes as long as a small statement, and a batch has a dozen of these.
    """

    of: psycopg.Connection[Any] | None = None  # their connection
    cursors: list[Cursor]

    def on(self, connection: psycopg.Connection[Any]) -> list[Cursor]:
        if self.of is not connection:
            self.of, self.cursors = connection, []
        return self.cursors


_idle = Idle()


@contextmanager
def cursor() -> Iterator[Cursor]:
    connection.ensure_connection()
    waiting = _idle.on(connection.connection)
    if connection.queries_logged:
        waiting = []
    made = waiting.pop() if waiting else _new_cursor()
    with connection.wrap_database_errors:
        yield made
    waiting.append(made)


def _new_cursor() -> Cursor:
    made = (LoggedCursor if connection.queries_logged else Cursor)(connection.connection)
    # psycopg's own, in C: a history of 10,000 samples is read in a third of the time.
    made.adapters.register_loader("timestamptz", TimestamptzLoader)
    return made


@contextmanager
def together() -> Iterator[None]:
    """Statements that return no rows, in one round trip; outside of a transaction they are one.

    If one fails, all fail, at the end of the block. The rows that they lock stay locked until then,
    so they must be locked in the same order everywhere.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def fetch_together(*questions: tuple[str, Mapping[str, Any]]) -> list[list[tuple[Any, ...]]]:
    """The rows of each (statement, parameters), all in one round trip."""
    with ExitStack() as stack:
        with together():
            asked = [stack.enter_context(cursor()).execute(*question) for question in questions]
        return [one.fetchall() for one in asked]


def compact_sql(statement: str) -> str:
    """The statement without comments and line breaks.

    psycopg keeps what it made of statements of up to 4,096 letters, and parses longer ones each
    time, in some 30 µs instead of 3. That is nothing to one that takes milliseconds. Not for
    statements with texts in which there are two dashes or two spaces.
    """
    return " ".join(re.sub("--[^\n]*", "", statement).split())


def array(values: Iterable[float | str | None]) -> str:
    """Numbers, booleans or bare words as an array literal, nulls included.

    In a tenth of the time that psycopg takes to adapt a list element by element. Not for free text.
    """
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


@dataclass(frozen=True, slots=True)
class DatabaseClock:
    """The database's time, advanced by our monotonic clock."""

    last_read: datetime  # as last read
    asked_at: float  # time.monotonic() from before the reading, so that this clock is never behind

    def now(self) -> datetime:
        return self.last_read + timedelta(seconds=time.monotonic() - self.asked_at)

    def monotonic_at(self, when: datetime) -> float:
        """The time.monotonic() of that time, or of a little before it."""
        return self.asked_at + (when - self.last_read).total_seconds()


class Fault(Enum):
    """Why a statement failed that may be right, by what its SQLSTATE begins with."""

    # Read-only, a refused login, name or permission, too few resources (as a full disk), errors of
    # the system: certainly not what the statement was given.
    SERVER = ("25", "28", "3D", "3F", "42501", "53", "58")
    # A missing table or column: the database is not migrated. Or the statement is wrong, perhaps
    # only for certain values.
    SCHEMA = ("42",)
    # Deadlocks, and locks that others held for too long: it may work the next time.
    CONFLICT = ("40", "55")


def fault_of(error: BaseException) -> Fault | None:
    """None: for the values that the statement was given, or because the connection broke or the
    statement was cancelled, which certain values may cause."""
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return next((fault for fault in Fault if state.startswith(fault.value)), None)


def is_connection_lost(error: OperationalError) -> bool:
    """Whether there was no connection to be had, or it broke; False: a statement failed."""
    state = getattr(error.__cause__, "sqlstate", None)
    # libpq gives none when it cannot connect. 57P is a server that starts, or ended the connection.
    return state is None or state.startswith(("08", "53300", "57P"))


def why_lost(error: BaseException) -> str:
    """In one line: the kind of error and its first line; the others may be the statement."""
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error.__cause__ or error).__name__}: {first}"


def retry_while_lost(act: Callable[[], T], *, until: float) -> T:
    """Call `act`, and again if the database is away or read-only, or ended it in a deadlock.

    Gives up when time.monotonic() reaches `until`, and raises the last error. `act` must be fenced
    against being done twice: it may commit just before its connection breaks.
    """
    while True:
        try:
            return act()
        except LOST:
            if connection.in_atomic_block or time.monotonic() > until:
                raise
            connection.close()
            time.sleep(0.2)
