"""Counts what is in a database, so that a copy can be compared with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]

OURS = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
TABLES = f"""
    SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE {OURS} AND c.relkind IN ('r', 'm') ORDER BY 1, 2
"""
# Counts by kind: indexes, views, sequences … Without NOT NULLs ('n'): since PostgreSQL 18 they are
# constraints as well.
OBJECTS = f"""
    SELECT 'relations of kind ' || c.relkind::text, count(*)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {OURS} GROUP BY 1
    UNION ALL
    SELECT 'constraints of kind ' || c.contype::text, count(*)
    FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
    WHERE {OURS} AND c.contype <> 'n' GROUP BY 1
    UNION ALL
    SELECT 'functions', count(*)
    FROM pg_proc c JOIN pg_namespace n ON n.oid = c.pronamespace WHERE {OURS} GROUP BY 1
    UNION ALL
    SELECT 'triggers', count(*) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT 'the value of ' || schemaname || '.' || sequencename, coalesce(last_value, -1)
    FROM pg_sequences
"""


@dataclass(frozen=True, slots=True)
class Counted:
    tables: int
    rows: int


class DifferenceError(OSError):
    """The copy differs from the original."""


def compare(original: Connection, copied: Connection) -> Counted:
    """Count both; DifferenceError names the first difference."""
    rows, objects = count_rows(original), dict(original.execute(OBJECTS).fetchall())
    there = count_rows(copied) | dict(copied.execute(OBJECTS).fetchall())
    wanted = rows | objects
    for name in sorted(wanted.keys() | there.keys()):
        if wanted.get(name, 0) != there.get(name, 0):
            raise DifferenceError(
                f"{name}: {wanted.get(name, 0)} before, {there.get(name, 0)} in the copy."
            )
    return Counted(tables=len(rows), rows=sum(rows.values()))


def count_rows(connection: Connection) -> dict[str, int]:
    return {
        f"rows of {schema}.{name}": connection.execute(
            sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, name))
        ).fetchall()[0][0]
        for schema, name in connection.execute(TABLES).fetchall()
    }
