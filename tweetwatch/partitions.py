"""Tables partitioned by time: partitions are created ahead, and dropped when they are old.

Rows without a partition of their own go into the default one, so that a missing partition never
stops a save. The default partition of a table `name` is `name_default`; the others are named after
their start.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, OperationalError, transaction
from psycopg import sql

from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

_MADE_AHEAD = timedelta(days=3)
STAMP = "%Y%m%d%H"
DAY_SPAN = timedelta(days=1)

_FIND_PARTITIONS = """
    SELECT child.relname
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent = to_regclass(%(table)s) ORDER BY child.relname
"""

# A partition cannot be created for rows that are already in the default one.
_FIND_DEFAULT_ROWS = """
    SELECT EXISTS (SELECT FROM {default} WHERE {column} >= {start} AND {column} < {end})
"""

# Creating or dropping one locks the parent, and while that waits for a long reader, every save
# waits for it. Better to give up soon and try again the next time.
_SET_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '300ms'"

_MAKE_PARTITION = """
    CREATE TABLE IF NOT EXISTS {name} PARTITION OF {table} FOR VALUES FROM ({start}) TO ({end})
"""
_LOCK_PARTITION = "LOCK TABLE ONLY {table}, {name} IN ACCESS EXCLUSIVE MODE"
_DROP_PARTITION = "DROP TABLE {name}"


@dataclass(frozen=True, slots=True)
class Partition:
    """A table, for [start, end)."""

    name: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Partitioned:
    """A partitioned table."""

    table: str
    column: str  # by which it is partitioned
    span: timedelta  # whole hours that divide a day evenly

    @property
    def default(self) -> str:
        return f"{self.table}_default"

    def covering(self, at: datetime) -> Partition:
        """The partition that `at` falls into."""
        at = at.astimezone(UTC)
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
        return self.beginning(midnight + (at - midnight) // self.span * self.span)

    def beginning(self, start: datetime) -> Partition:
        return Partition(f"{self.table}_{start.strftime(STAMP)}", start, start + self.span)

    def existing(self) -> list[Partition]:
        """The existing partitions, oldest first, without the default one."""
        with cursor() as db:
            names = [row[0] for row in db.execute(_FIND_PARTITIONS, {"table": self.table})]
        return [
            self.beginning(
                datetime.strptime(name[len(self.table) + 1 :], STAMP).replace(tzinfo=UTC)
            )
            for name in names
            if name != self.default
        ]

    def make_ahead(self, *, now: datetime) -> int:
        """Create what is missing for the next few days; return how many."""
        there = set(self.existing())
        wanted = self.covering(now)
        made = 0
        while wanted.start <= now + _MADE_AHEAD:
            if wanted not in there:
                made += self.make(wanted)
            wanted = self.beginning(wanted.end)
        return made

    def make(self, partition: Partition) -> bool:
        """Create one; False if the default one has rows of its time, or others hold locks."""
        words = {
            "name": sql.Identifier(partition.name),
            "table": sql.Identifier(self.table),
            "default": sql.Identifier(self.default),
            "column": sql.Identifier(self.column),
            "start": sql.Literal(partition.start),
            "end": sql.Literal(partition.end),
        }
        try:
            with transaction.atomic(), cursor() as db:
                db.execute(_SET_LOCK_TIMEOUT)
                row = db.execute(sql.SQL(_FIND_DEFAULT_ROWS).format(**words)).fetchone()
                if row and row[0]:
                    return False
                db.execute(sql.SQL(_MAKE_PARTITION).format(**words))
        # IntegrityError: a save was faster, so its row is in the default partition now; or another
        # housekeeper was.
        except (OperationalError, IntegrityError) as busy:
            logger.warning("partition %s is not made yet: %s", partition.name, str(busy).strip())
            return False
        return True

    def drop(self, name: str, *, unless: sql.Composed) -> bool:
        """Drop the partition `name`, unless the query `unless` is true once it is locked."""
        words = {"table": sql.Identifier(self.table), "name": sql.Identifier(name)}
        try:
            with transaction.atomic(), cursor() as db:
                db.execute(_SET_LOCK_TIMEOUT)
                db.execute(sql.SQL(_LOCK_PARTITION).format(**words))
                row = db.execute(unless).fetchone()
                if row is None or row[0]:
                    return False
                db.execute(sql.SQL(_DROP_PARTITION).format(**words))
        except OperationalError as busy:
            logger.warning("partition %s is not dropped yet: %s", name, str(busy).strip())
            return False
        return True
