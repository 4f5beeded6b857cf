"""Queries for somebody who waits: the database ends one that takes too long, and TookTooLong says
so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

_READ_SETTINGS = "SELECT current_setting('statement_timeout'), current_setting('enable_seqscan')"
_SET_SETTINGS = (
    "SELECT set_config('statement_timeout', %s, true), set_config('enable_seqscan', %s, true)"
)
_SET_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"
_SET_INDEX_SCANS = "SELECT set_config('enable_indexscan', %s, true)"


class TookTooLong(Exception):
    """The query did not finish in time; the database has ended it."""


def enforce_deadline(deadline: Deadline) -> None:
    """Limit each following statement to the time that is left now; call it again in between."""
    with cursor() as db:
        db.execute(_SET_TIMEOUT, (_time_left(deadline),))


def _time_left(deadline: Deadline) -> str:
    left = round(deadline.left * 1000)
    if left <= 0:
        raise TookTooLong
    return f"{left}ms"


@contextmanager
def limit_time(limit: timedelta) -> Iterator[Deadline]:
    """A transaction for statements that each can use an index.

    No plan scans a whole table if there is such an index, however old the statistics are.
    """
    deadline = Deadline.after(limit.total_seconds())
    try:
        with transaction.atomic(), cursor() as db:
            before = db.execute(_READ_SETTINGS).fetchone()
            assert before is not None
            db.execute(_SET_SETTINGS, (_time_left(deadline), "off"))
            yield deadline
            # Within an outer transaction the settings would outlast this block.
            db.execute(_SET_SETTINGS, before)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong from error
        raise


@contextmanager
def only_bitmaps() -> Iterator[None]:
    """For a LIMIT without an order on a GIN index, which the planner expects to fill easily.

    Otherwise it would walk an index on another column until it has enough matches, and all of it if
    there are too few.
    """
    with transaction.atomic(savepoint=False), cursor() as db:
        db.execute(_SET_INDEX_SCANS, ("off",))
        yield
        db.execute(_SET_INDEX_SCANS, ("on",))
