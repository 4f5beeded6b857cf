"""The tables of a database, with their rows and sizes."""

from __future__ import annotations

from typing import Any, Protocol

import psycopg
from psycopg import sql

from trackers.backups.archive import Table

# Partitions are tables; their parents hold no rows. A standby has no rows of unlogged tables, which
# only hold what may be lost.
_TABLES = """
    SELECT n.nspname, c.relname, pg_table_size(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND (c.relpersistence <> 'u' OR NOT pg_is_in_recovery())
    ORDER BY 1, 2
"""
_COUNT = "SELECT count(*) FROM {}"


class Progress(Protocol):
    """Displays progress, by the bytes of the tables."""

    def begin(self, sizes: dict[str, int]) -> None: ...

    def reach(self, table: str) -> None:
        """Set the table that is now read or filled."""


def sizes(connection: psycopg.Connection[Any]) -> dict[tuple[str, str], int]:
    return {(schema, name): size for schema, name, size in connection.execute(_TABLES)}


def count(
    connection: psycopg.Connection[Any], tables: dict[tuple[str, str], int]
) -> dict[str, Table]:
    counted = {}
    for (schema, name), size in tables.items():
        query = sql.SQL(_COUNT).format(sql.Identifier(schema, name))
        [(rows,)] = connection.execute(query).fetchall()
        counted[f"{schema}.{name}"] = Table(rows, size)
    return counted
