"""Reading for somebody who waits: what takes too long is ended in the database, and said so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from tweetwatch.database import cursor

BEFORE = "SELECT current_setting('statement_timeout'), current_setting('enable_seqscan')"
LIMITED = "SELECT set_config('statement_timeout', %s, true), set_config('enable_seqscan', %s, true)"
TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"
INDEX_SCANS = "SELECT set_config('enable_indexscan', %s, true)"


class TookTooLong(Exception):
    """The reading did not end in its time; the database does not go on with it."""


@dataclass(frozen=True, slots=True)
class Deadline:
    at: float

    def enforce(self) -> None:
        """Give the next statements what is left of the time, each; between them, ask again."""
        with cursor() as db:
            db.execute(TIMEOUT, (self.left(),))

    def left(self) -> str:
        left = round((self.at - time.monotonic()) * 1000)
        if left <= 0:
            raise TookTooLong
        return f"{left}ms"


@contextmanager
def bounded(limit: timedelta) -> Iterator[Deadline]:
    """A transaction for statements that each have an index to go by.

    No plan scans a whole table while there is one, however old the statistics are.
    """
    deadline = Deadline(time.monotonic() + limit.total_seconds())
    try:
        with transaction.atomic(), cursor() as db:
            before = db.execute(BEFORE).fetchone()
            assert before is not None
            db.execute(LIMITED, (deadline.left(), "off"))
            yield deadline
            # Inside of another transaction the settings would outlast this one.
            db.execute(LIMITED, before)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong from error
        raise


@contextmanager
def only_bitmaps() -> Iterator[None]:
    """For a LIMIT without an order on a GIN index, which the planner takes for easily filled.

    It would walk an index of another column until it has enough; and never, if there are too few.
    """
    with transaction.atomic(savepoint=False), cursor() as db:
        db.execute(INDEX_SCANS, ("off",))
        yield
        db.execute(INDEX_SCANS, ("on",))
