"""Older samples become one row of arrays per tweet and month: a third of the space. Checkpoints
become one row per tweet.

rows of a UTC day that is over ─> appended to the arrays of the month in which they ended
A few thousand rows per transaction: a reader sees a tweet's rows or its arrays, never both or
neither, and no save waits. Empty partitions are dropped. When time runs out, the next run continues
where this one stopped, since packed rows are deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import ProgrammingError
from psycopg import sql
from psycopg.errors import UndefinedTable

from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.snowflake import LARGEST_ID, first_id_at
from tweetwatch.database import cursor
from tweetwatch.partitions import Partitioned
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces, in_pieces, select_count
from tweetwatch.statements import statement

SAMPLES = Partitioned("trackers_sample", "measured_until", timedelta(hours=6))
CHECKPOINTS = Partitioned("trackers_checkpoint", "crossed_at", timedelta(hours=24))

logger = logging.getLogger(__name__)

# Under these names one process at a time packs a table.
PACKING_SAMPLES = "packing trackers_sample"
_NAMES_OF_WORK = {SAMPLES: PACKING_SAMPLES, CHECKPOINTS: "packing trackers_checkpoint"}
# A day is packed this long after its end, all at once. If partitions were packed one by one, a
# tweet's row would be written four times a day, each time too large for its previous space.
SETTLED_AFTER = timedelta(minutes=30)
_PACKED_DAY = timedelta(days=1)
_EVER = datetime(1970, 1, 1, tzinfo=UTC)
# Rows of a piece, plus the rest of its last tweet: a tweet's rows are packed together, and a day of
# one that is looked up every minute has 1,440. A piece takes well under a second.
ROWS_PER_PIECE = 5_000

# The tweet of the last row of a piece, in the order of the index on tweet_id. The limit is a
# literal: with a parameter the planner would rather sort all rows.
LAST_TWEET = """
    SELECT tweet_id FROM {rows}
    WHERE tweet_id > %(after)s AND {column} >= {start} AND {column} < {end}
    ORDER BY tweet_id OFFSET {limit} - 1 LIMIT 1
"""

_PLACES = ("rows", "start", "end")
# The statement that packs the rows of some tweets, by the table from which it takes them.
_PACK = {
    SAMPLES: statement(__file__, "pack", open=_PLACES),
    CHECKPOINTS: statement(__file__, "pack_checkpoints", open=_PLACES),
}

_HAS_ROWS = "SELECT EXISTS (SELECT FROM {rows})"

# Uses the index on month. Rows are locked before they are deleted, and passed as an array: for a
# join the planner would read the whole table. The limit is a literal: with a parameter the planner
# would have to expect any number of rows.
RETIRE = """
    DELETE FROM trackers_packedsamples WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_packedsamples
        WHERE month < %(before)s ORDER BY month LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""

# No age lies later than a month after the tweet was posted, which its id says.
_RETIRE_CHECKPOINTS = """
    DELETE FROM trackers_packedcheckpoints WHERE tweet_id = ANY(ARRAY(
        SELECT tweet_id FROM trackers_packedcheckpoints
        WHERE tweet_id < %(below)s ORDER BY tweet_id LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""
_COUNT_CHECKPOINTS_TO_RETIRE = """
    SELECT count(*) FROM (
        SELECT FROM trackers_packedcheckpoints WHERE tweet_id < %(below)s LIMIT 100000) left_over
"""

# Bounded: a larger backlog need not be known exactly.
_COUNT_TO_RETIRE = """
    SELECT count(*) FROM (
        SELECT FROM trackers_packedsamples WHERE month < %(before)s LIMIT 100000) left_over
"""

# One that is later than now is from a clock that was ahead. Reads all tweets, once an hour.
_BELIEVED_NOW = """
    SELECT least(%(now)s::timestamptz, max(measured_until) + interval '1 day')
    FROM trackers_tweet WHERE measured_until <= %(now)s
"""

# The server's own estimate, which is free and good enough to show how far behind packing is.
_ESTIMATE_ROWS_LEFT = """
    SELECT coalesce(sum(n_live_tup), 0) FROM pg_stat_user_tables WHERE relname = ANY(%(names)s)
"""


@dataclass(frozen=True, slots=True)
class Packed:
    rows: int = 0  # became arrays
    dropped: int = 0  # partitions
    left: int = 0  # about how many rows are left to pack, if time ran out first


def pack(*, now: datetime, deadline: Deadline) -> Packed:
    """Pack the days that have settled, oldest first. A busy partition waits for the next run."""
    # Those are few, so samples need not wait long.
    of_ages = _pack_table(CHECKPOINTS, now=now, deadline=deadline)
    of_times = _pack_table(SAMPLES, now=now, deadline=deadline)
    return Packed(
        of_ages.rows + of_times.rows,
        of_ages.dropped + of_times.dropped,
        of_ages.left + of_times.left,
    )


def _pack_table(table: Partitioned, *, now: datetime, deadline: Deadline) -> Packed:
    rows = dropped = 0
    work = _NAMES_OF_WORK[table]

    def left() -> int:
        names = [name for of_day in _settled_days(table, now=now).values() for name in of_day]
        return max(1, select_count(_ESTIMATE_ROWS_LEFT, {"names": [*names, table.default]}))

    for start, names in _settled_days(table, now=now).items():
        try:
            packing = _packer_of(table, table.table, start=start, end=start + _PACKED_DAY)
            worked = in_pieces(work, packing, left=left, deadline=deadline)
            rows += worked.rows
            if not worked.is_done:
                return Packed(rows, dropped, worked.left)
            dropped += sum(_drop_if_empty(table, name) for name in names)
        except ProgrammingError as fault:
            # Meanwhile another housekeeper has packed and dropped it.
            if not isinstance(fault.__cause__, UndefinedTable):
                raise
    packing = _packer_of(table, table.default, start=_EVER, end=now - _PACKED_DAY)
    worked = in_pieces(work, packing, left=left, deadline=deadline)
    return Packed(rows + worked.rows, dropped, worked.left)


def _settled_days(table: Partitioned, *, now: datetime) -> dict[datetime, list[str]]:
    """The days whose measurements are all in, oldest first, each with its partitions' names."""
    days: dict[datetime, list[str]] = {}
    for partition in table.existing():
        start = partition.start.replace(hour=0)
        if start + _PACKED_DAY + SETTLED_AFTER <= now:
            days.setdefault(start, []).append(partition.name)
    return days


def _packer_of(
    table: Partitioned, rows: str, *, start: datetime, end: datetime
) -> Callable[[], int | None]:
    """A function that packs the next rows of that time; it returns how many, or None at the end."""
    # Literals, so that the planner can prune the partitions of other days.
    where = {
        "rows": sql.Identifier(rows),
        "column": sql.Identifier(table.column),
        "start": sql.Literal(start),
        "end": sql.Literal(end),
        "limit": sql.Literal(ROWS_PER_PIECE),
    }
    last_tweet, pack_them = (sql.SQL(query).format(**where) for query in (LAST_TWEET, _PACK[table]))
    after = -1

    def piece() -> int | None:
        nonlocal after
        with cursor() as db:
            row = db.execute(last_tweet, {"after": after}).fetchone()
            last = row[0] if row else LARGEST_ID
            counted = db.execute(pack_them, {"after": after, "last": last}).fetchone()
        after = last
        return (counted[0] if counted else 0) or None

    return piece


def _drop_if_empty(table: Partitioned, name: str) -> bool:
    """Drop a partition if it is empty; False when it is not, or when others hold locks."""
    return table.drop(name, unless=sql.SQL(_HAS_ROWS).format(rows=sql.Identifier(name)))


def retired_before(now: datetime, kept_for: timedelta) -> datetime:
    """The beginning of the first month that is not past a retention."""
    since = (now - kept_for).astimezone(UTC)
    return since.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def retire(
    *, older_than: timedelta, now: datetime, deadline: Deadline, samples_too: bool = True
) -> PieceWork:
    """Delete the packed samples of the months that ended before the retention, and the checkpoints
    of tweets that were a month old by then.

    It is not believed to be later than a day after the newest measurement: a clock that is ahead
    makes none. Without `samples_too`, the samples stay until they are archived.
    """
    with cursor() as db:
        row = db.execute(_BELIEVED_NOW, {"now": now}).fetchone()
    assert row is not None
    since = retired_before(row[0], older_than)
    of_times = PieceWork()
    if samples_too:
        of_times = delete_in_pieces(
            "sample retention",
            RETIRE,
            left=_COUNT_TO_RETIRE,
            params={"before": since.date()},
            deadline=deadline,
        )
    of_ages = delete_in_pieces(
        "checkpoint retention",
        _RETIRE_CHECKPOINTS,
        left=_COUNT_CHECKPOINTS_TO_RETIRE,
        params={"below": first_id_at(int((since - AGES[-1]).timestamp() * 1000))},
        deadline=deadline,
    )
    return PieceWork(
        of_times.rows + of_ages.rows,
        of_times.left + of_ages.left,
        of_times.is_elsewhere or of_ages.is_elsewhere,
    )
