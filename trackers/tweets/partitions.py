"""Partitions of the recent samples: made ahead, and told apart by the time they cover.

A partition holds the samples whose last measurement fell into its six hours. Rows for which there
was none lie in the default partition, so that a missing one never stops a save.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, OperationalError, transaction
from psycopg import sql

from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

SPAN = timedelta(hours=6)
AHEAD = timedelta(days=3)
DEFAULT = "trackers_sample_default"
NAMED = "trackers_sample_%Y%m%d%H"

EXISTING = """
    SELECT child.relname
    FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent = 'trackers_sample'::regclass ORDER BY child.relname
"""

# A partition cannot be made over rows that the default one holds already; those stay there until
# they are packed.
TAKEN = """
    SELECT EXISTS (SELECT FROM trackers_sample_default
                   WHERE measured_until >= %(start)s AND measured_until < %(end)s)
"""

# Making or dropping one locks the parent, and while it waits behind a long reader every save waits
# behind it. Better to give up soon and try again at the next housekeeping.
PATIENCE = "SET LOCAL lock_timeout = '300ms'"

MAKE = """
    CREATE TABLE IF NOT EXISTS {name} PARTITION OF trackers_sample
    FOR VALUES FROM ({start}) TO ({end})
"""


@dataclass(frozen=True, slots=True)
class Partition:
    start: datetime

    @property
    def end(self) -> datetime:
        return self.start + SPAN

    @property
    def name(self) -> str:
        return self.start.strftime(NAMED)


def covering(at: datetime) -> Partition:
    """The partition that `at` falls into."""
    at = at.astimezone(UTC)
    return Partition(at.replace(hour=at.hour - at.hour % 6, minute=0, second=0, microsecond=0))


def existing() -> list[Partition]:
    """The partitions that there are, oldest first, without the default one."""
    with cursor() as db:
        names = [row[0] for row in db.execute(EXISTING)]
    return [
        Partition(datetime.strptime(name, NAMED).replace(tzinfo=UTC))
        for name in names
        if name != DEFAULT
    ]


def make_ahead(*, now: datetime) -> int:
    """Make what is missing from now until some days ahead; how many were made."""
    there = set(existing())
    wanted = covering(now)
    made = 0
    while wanted.start <= now + AHEAD:
        if wanted not in there:
            made += make(wanted)
        wanted = Partition(wanted.end)
    return made


def make(partition: Partition) -> bool:
    """Make one; False when the default one holds its time already, or locks stood in the way."""
    span = {"start": partition.start, "end": partition.end}
    try:
        with transaction.atomic(), cursor() as db:
            db.execute(PATIENCE)
            found = db.execute(TAKEN, span).fetchone()
            if found and found[0]:
                return False
            db.execute(
                sql.SQL(MAKE).format(
                    name=sql.Identifier(partition.name),
                    start=sql.Literal(partition.start),
                    end=sql.Literal(partition.end),
                )
            )
    # IntegrityError: a save was faster, and its row lies in the default partition now; or another
    # housekeeper was.
    except (OperationalError, IntegrityError) as busy:
        logger.warning("partition %s is not made yet: %s", partition.name, str(busy).strip())
        return False
    return True
