"""What of a database is the program's and so belongs in a backup, and what is somebody else's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import psycopg
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from trackers.backups.file import Table
from tweetwatch.statements import statement

_OBJECTS = statement(__file__, "objects")
_COUNT = "SELECT count(*) FROM {}"
# Entries of pg_restore's list, such as `2922; 0 0 TABLE ATTACH public trackers_event_default tw`:
# its number, the catalog and the oid of the object, the kind. Others, such as schemas and
# privileges, are not the program's.
_KINDS = (
    *("TABLE DATA", "TABLE ATTACH", "TABLE", "SEQUENCE OWNED BY", "SEQUENCE SET", "SEQUENCE"),
    *("FK CONSTRAINT", "CHECK CONSTRAINT", "CONSTRAINT", "INDEX ATTACH", "INDEX", "DEFAULT"),
    *("FUNCTION", "STATISTICS", "TYPE"),
)
_ENTRY = re.compile(rf"(\d+); (\d+) (\d+) (?:{'|'.join(_KINDS)}) ")


class Progress(Protocol):
    """Displays progress, by the bytes of the tables."""

    def begin(self, sizes: dict[str, int]) -> None: ...

    def reach(self, table: str) -> None:
        """Set the table that is now read or filled."""


@dataclass(slots=True)
class Contents:
    """What is in a database; the program's names are in SQL's notation, with their schema."""

    schema: str
    # Of each table that holds rows itself, by its name without the schema: its bytes.
    sizes: dict[str, int] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    sequences: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    # Of others: tables, views and sequences beside ours; a description of each object, by its
    # catalog and oid.
    foreign: list[str] = field(default_factory=list)
    left_out: dict[tuple[int, int], str] = field(default_factory=dict)

    def own_entries(self, listing: str) -> list[int]:
        """The numbers of those entries of a list, as pg_restore prints it, that are ours."""
        return [
            int(entry[1])
            for line in listing.splitlines()
            if (entry := _ENTRY.match(line)) and (int(entry[2]), int(entry[3])) not in self.left_out
        ]

    def removal(self) -> str:
        """SQL that drops what is ours, and fails if something of others depends on it."""
        drops = (
            ("TABLE", self.tables),
            ("SEQUENCE IF EXISTS", self.sequences),  # those of columns are gone by then
            ("FUNCTION", self.functions),
            ("TYPE", self.types),
        )
        return "".join(f"DROP {kind} {', '.join(names)};\n" for kind, names in drops if names)


def read_contents(db: psycopg.Connection[Any], schema: str) -> Contents:
    contents = Contents(schema)
    models = [*connection.introspection.django_table_names(), _migrations_table()]
    for row in db.execute(_OBJECTS, {"schema": schema, "tables": models}):
        catalog, oid, kind, name, identity, has_rows, is_own, size, described = row
        if not is_own:
            contents.left_out[catalog, oid] = described
            if kind in "rpvmfS":
                contents.foreign.append(identity)
            continue
        if has_rows:
            contents.sizes[name] = size
        by_kind = {
            "function": contents.functions,
            "type": contents.types,
            "S": contents.sequences,
        }
        by_kind.get(kind, contents.tables).append(identity)
    return contents


def _migrations_table() -> str:
    return MigrationRecorder.Migration._meta.db_table


def count(
    db: psycopg.Connection[Any], schema: str, sizes: Iterable[tuple[str, int]]
) -> dict[str, Table]:
    counted = {}
    for name, size in sizes:
        query = sql.SQL(_COUNT).format(sql.Identifier(schema, name))
        [(rows,)] = db.execute(query).fetchall()
        counted[name] = Table(rows, size)
    return counted
