"""The database's own figures: a row a minute for a day, and what is asked when a page is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from psycopg import sql

from tweetwatch.database import cursor
from tweetwatch.time_limits import TookTooLong, limit_time

# A page waits for it.
HEALTH_TIMEOUT = timedelta(seconds=2)
MAX_TABLES_SHOWN = 12


# The size is the sum of the sizes of files; the WHERE is checked first, so it is taken once a
# minute.
_RECORD_DATABASE_MINUTE = """
    INSERT INTO trackers_databaseminute (minute, wal, size, connections)
    SELECT date_trunc('minute', now()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint,
           pg_database_size(current_database()),
           (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
    WHERE NOT EXISTS (
        SELECT FROM trackers_databaseminute WHERE minute = date_trunc('minute', now()))
    ON CONFLICT DO NOTHING
"""
_PRUNE_DATABASE_MINUTES = (
    "DELETE FROM trackers_databaseminute WHERE minute < now() - interval '25 hours'"
)

# Bytes of WAL from one minute's row to the next. After a fail-over or a restore it starts over.
_WAL_BY_MINUTE = """
    SELECT minute, nullif(greatest(wal - before, -1), -1)
    FROM (
        SELECT minute, wal, lag(wal) OVER (ORDER BY minute) AS before,
               minute - lag(minute) OVER (ORDER BY minute) AS step
        FROM trackers_databaseminute WHERE minute >= now() - %(over)s::interval
    ) AS steps
    WHERE step = interval '1 minute' ORDER BY minute
"""
_GROWTH_A_DAY = """
    SELECT (last.size - first.size)::float8
           / nullif(extract(epoch FROM last.minute - first.minute), 0)::float8 * 86400
    FROM (SELECT * FROM trackers_databaseminute ORDER BY minute LIMIT 1) AS first,
         (SELECT * FROM trackers_databaseminute ORDER BY minute DESC LIMIT 1) AS last
    WHERE last.minute >= first.minute + interval '1 hour'
"""

_HEALTH = """
    SELECT pg_database_size(current_database()),
           (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
           current_setting('max_connections')::int,
           (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()),
           (SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint
            FROM pg_replication_slots),
           (SELECT slot_name::text FROM pg_replication_slots WHERE restart_lsn IS NOT NULL
            ORDER BY restart_lsn LIMIT 1),
           (SELECT last_failed_time > coalesce(last_archived_time, '-infinity')
            FROM pg_stat_archiver),
           pg_size_bytes(current_setting('max_wal_size')),
           current_setting('server_version')
"""
# Partitions count as their table. Dead rows are removed by autovacuum, unless an old transaction
# could still see them.
_TABLES = """
    SELECT coalesce(parent.relname, c.relname) AS name, count(*)::int AS parts,
           sum(pg_total_relation_size(c.oid))::bigint AS size,
           sum(pg_indexes_size(c.oid))::bigint AS indexes,
           sum(coalesce(s.n_live_tup, 0))::bigint AS live,
           sum(coalesce(s.n_dead_tup, 0))::bigint AS dead,
           max(greatest(s.last_vacuum, s.last_autovacuum)) AS vacuumed_at
    FROM pg_class c
    LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    LEFT JOIN pg_class parent ON parent.oid = i.inhparent
    LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    GROUP BY 1
"""
_PARTITIONS = """
    SELECT parent.relname, count(*)::int - count(*) FILTER (WHERE is_default)::int,
           min(c.relname) FILTER (WHERE NOT is_default),
           max(c.relname) FILTER (WHERE NOT is_default),
           sum(pg_total_relation_size(c.oid))::bigint,
           sum(greatest(c.reltuples, 0))::bigint,
           max(c.relname) FILTER (WHERE is_default AND pg_relation_size(c.oid) > 0)
    FROM pg_inherits i
    JOIN pg_class parent ON parent.oid = i.inhparent AND parent.relkind = 'p'
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (
        SELECT pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT' AS is_default) AS bound
    GROUP BY 1 ORDER BY 1
"""
# VACUUM can remove no row that died since the oldest open snapshot was taken. A queue whose dead
# rows stay gets slower by the minute, so the thing to warn about is this, not its length. Snapshots
# of other databases hold nothing back here, nor does an autovacuum. A superuser and members of
# pg_read_all_stats see all transactions, other roles only their own.
_OLDEST_SNAPSHOT = """
    SELECT extract(epoch FROM now() - xact_start)::float8, pid,
           coalesce(nullif(application_name, ''), usename, backend_type)
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xmin IS NOT NULL AND xact_start IS NOT NULL
      AND backend_type <> 'autovacuum worker' AND pid <> pg_backend_pid()
    ORDER BY xact_start LIMIT 1
"""
# A file keeps its pages after its last row has gone, until vacuum cuts them off.
_HAS_A_ROW = "SELECT EXISTS (SELECT FROM ONLY {})"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its partitions, if it has any; rows as PostgreSQL estimates them."""

    name: str
    parts: int
    size: int
    indexes: int
    live: int
    dead: int
    vacuumed_at: datetime | None


@dataclass(frozen=True, slots=True)
class PartitionsOf:
    table: str
    parts: int
    first: str | None  # a name, which ends with when it starts, as YYYYMMDDHH
    last: str | None  # the same
    size: int
    rows: int
    stray: str | None  # the name of its DEFAULT partition, if that holds a row


@dataclass(frozen=True, slots=True)
class Health:
    size: int
    connections: int
    connections_most: int
    xid_age: int
    slot_behind: int  # bytes of WAL kept for the slot that is farthest behind
    slot: str | None
    archiving_fails: bool
    wal_most: int
    version: str
    tables: Sequence[Table]
    partitions: Sequence[PartitionsOf]
    grows_a_day: float | None


@dataclass(frozen=True, slots=True)
class Horizon:
    """How old the oldest snapshot is, in seconds, and whose; 0 when there is none."""

    seconds: float = 0.0
    pid: int | None = None
    who: str = ""


def record_database_minute() -> None:
    """Once a minute, by whichever process comes first."""
    with cursor() as db:
        db.execute(_RECORD_DATABASE_MINUTE)


def prune_database_minutes() -> int:
    with cursor() as db:
        return db.execute(_PRUNE_DATABASE_MINUTES).rowcount


def wal_by_minute(*, over: timedelta) -> list[tuple[datetime, int | None]]:
    with cursor() as db:
        return db.execute(_WAL_BY_MINUTE, {"over": over}).fetchall()


def horizon() -> Horizon:
    with cursor() as db:
        row = db.execute(_OLDEST_SNAPSHOT).fetchone()
    return Horizon(max(row[0], 0.0), row[1], row[2]) if row else Horizon()


def health() -> Health | None:
    """None when it takes too long: a table is locked, or the disk is very slow."""
    try:
        with limit_time(HEALTH_TIMEOUT), cursor() as db:
            figures = db.execute(_HEALTH).fetchone()
            grew = db.execute(_GROWTH_A_DAY).fetchone()
            tables = [Table(*row) for row in db.execute(_TABLES)]
            partitions = [
                _without_empty_stray(db, PartitionsOf(*row))
                for row in db.execute(_PARTITIONS).fetchall()
            ]
    except TookTooLong:
        return None
    assert figures is not None
    tables.sort(key=lambda table: table.size, reverse=True)
    return Health(*(*figures, tables, partitions, grew[0] if grew else None))


def _without_empty_stray(db: Any, of: PartitionsOf) -> PartitionsOf:
    """Without `stray` if no row is in it."""
    if of.stray is None:
        return of
    [has_a_row] = db.execute(sql.SQL(_HAS_A_ROW).format(sql.Identifier(of.stray))).fetchone()
    return of if has_a_row else replace(of, stray=None)
