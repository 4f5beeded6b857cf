"""A psycopg cursor on Django's connection, for the SQL that the ORM cannot say.

It binds on the server and prepares, which Django's own cursors do not; it is in the same
transaction as the ORM; its errors are Django's (`django.db.OperationalError`, …).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

import psycopg
from django.db import InterfaceError, InternalError, OperationalError, connection
from psycopg.types.datetime import TimestamptzLoader

T = TypeVar("T")

# The database is away, overloaded, or read-only: after a while it is there again.
LOST = (OperationalError, InterfaceError, InternalError)


class Cursor(psycopg.Cursor[tuple[Any, ...]]):
    """Enters its statements in Django's log of queries while somebody reads that.

    Django's own cursors do so, and tests count by it. Parameters, which may be secrets, stay out.
    """

    def execute(self, query: Any, *args: Any, **how: Any) -> Self:
        if connection.queries_logged:
            connection.queries_log.append({"sql": str(query), "time": "0.000"})
        return super().execute(query, *args, **how)


class Idle(threading.local):
    """This thread's cursors that wait for their next use; `of` is the connection they are of.

    To make one takes as long as a small statement, and a batch has a dozen of these.
    """

    of: psycopg.Connection[Any] | None = None
    cursors: list[Cursor]

    def on(self, connection: psycopg.Connection[Any]) -> list[Cursor]:
        if self.of is not connection:
            self.of, self.cursors = connection, []
        return self.cursors


idle = Idle()


@contextmanager
def cursor() -> Iterator[Cursor]:
    connection.ensure_connection()
    waiting = idle.on(connection.connection)
    made = waiting.pop() if waiting else new_cursor()
    with connection.wrap_database_errors:
        yield made
    waiting.append(made)


def new_cursor() -> Cursor:
    made = Cursor(connection.connection)
    # psycopg's own, in C: a history of 10,000 samples is read in a third of the time.
    made.adapters.register_loader("timestamptz", TimestamptzLoader)
    return made


@contextmanager
def together() -> Iterator[None]:
    """Statements that give no rows, in one round trip; outside of a transaction they are one.

    What fails, fails at the end, and all of them with it. The rows that they lock stay locked until
    then: those who do so take them in one order.
    """
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def ask(*questions: tuple[str, Mapping[str, Any]]) -> list[list[tuple[Any, ...]]]:
    """The rows that each statement gives to its parameters, all in one round trip."""
    with ExitStack() as stack:
        with together():
            asked = [stack.enter_context(cursor()).execute(*question) for question in questions]
        return [one.fetchall() for one in asked]


def plain(statement: str) -> str:
    """The same without comments and line breaks.

    psycopg keeps what it made of statements of up to 4,096 letters, and reads longer ones anew each
    time, in some 30 µs instead of 3. That is nothing to one that takes milliseconds. Not for
    statements with texts in which there are two dashes or two spaces.
    """
    return " ".join(re.sub("--[^\n]*", "", statement).split())


def array(values: Iterable[float | str | None]) -> str:
    """Numbers, truth values or bare words as the text of an array, nulls included.

    A tenth of what psycopg takes to adapt a list element by element. Not for free text.
    """
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


@dataclass(frozen=True, slots=True)
class DatabaseClock:
    """The database's time as it told it, and by our monotonic clock since.

    `asked_at`: time.monotonic() before it was asked, so that this clock is never behind.
    """

    told: datetime
    asked_at: float

    def now(self) -> datetime:
        return self.told + timedelta(seconds=time.monotonic() - self.asked_at)

    def monotonic_at(self, when: datetime) -> float:
        """What time.monotonic() says at that time, or a little before it."""
        return self.asked_at + (when - self.told).total_seconds()


def persist(act: Callable[[], T], *, until: float) -> T:
    """Do it, and again when the database went away, chose us in a deadlock or is read-only.

    Until time.monotonic() is `until`; then the last error is raised. What was committed before its
    connection broke must be fenced against being done twice.
    """
    while True:
        try:
            return act()
        except LOST:
            if connection.in_atomic_block or time.monotonic() > until:
                raise
            connection.close()
            time.sleep(0.2)
