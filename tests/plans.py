"""The plan of every statement of a piece of the product, taken where and when it runs."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from psycopg.types.json import set_json_loads

from tests.jobs.plans import NAMED, nodes

MODES = ("force_custom_plan", "force_generic_plan")
PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
EXPLAIN = sql.SQL("EXPLAIN (ANALYZE, FORMAT JSON) ")
# PostgreSQL 18.4 writes these of a MERGE into partitions where JSON allows no names.
TUPLES_MERGED = re.compile(r',\s*"Tuples \w+": \d+')
WHICH = """
    SELECT name FROM pg_prepared_statements WHERE statement = %s AND NOT from_sql
    ORDER BY prepare_time DESC LIMIT 1
"""


def is_setting(text):
    """A setting alone takes its values by their places."""
    return " ".join(text.split()).startswith("SELECT set_config(")


@dataclass(frozen=True, slots=True)
class Reach:
    """How a statement reaches a table, and how many rows it reads or writes there, at the most."""

    statement: str
    mode: str
    table: str
    how: str
    rows: float


@dataclass
class Watch:
    """What was seen."""

    reached: list[Reach] = field(default_factory=list)

    def look(self, run: Callable, cursor: psycopg.Cursor, query, params) -> None:
        """Explain a statement just before it runs, on the rows that it will find; undone then."""
        text = query if isinstance(query, str) else query.as_string(cursor.connection)
        if text.split(None, 1)[0].upper() not in PLANNED or is_setting(text):
            return
        for mode, told in self.explained(run, cursor, text, params):
            head = " ".join(text.split())[:90]
            for node in nodes(told["Plan"]):
                if table := node.get("Relation Name"):
                    self.reached.append(Reach(head, mode, table, node["Node Type"], rows_of(node)))

    def explained(self, run, cursor, text, params) -> Iterator[tuple[str, dict]]:
        connection = cursor.connection
        if isinstance(cursor, psycopg.ClientCursor):
            # Django's own: never prepared, its values are in the text.
            with connection.transaction(force_rollback=True):
                asked = psycopg.ClientCursor(connection)
                yield "as it is", run(asked, EXPLAIN + sql.SQL(text), params).fetchone()[0][0]
            return
        with connection.transaction(force_rollback=True):
            own, back = psycopg.Cursor(connection), connection.pgconn.exec_
            set_json_loads(valid_json, own)
            back(b"SAVEPOINT before")
            # As psycopg prepares it, with the types that it gives to these values.
            run(own, text, params, prepare=True)
            # By hand: at a rollback of its own psycopg forgets what it prepared.
            back(b"ROLLBACK TO before")
            names = list(dict.fromkeys(NAMED.findall(text))) if params else []
            asked = NAMED.sub(lambda found: f"${names.index(found[1]) + 1}", text)
            [name] = run(own, WHICH, (asked,), prepare=False).fetchone()
            values = sql.SQL(", ").join(sql.Literal(params[one]) for one in names)
            query = sql.SQL("EXECUTE {} ({})" if names else "EXECUTE {}")
            query = EXPLAIN + query.format(sql.Identifier(name), values)
            for mode in MODES:
                run(own, f"SET LOCAL plan_cache_mode = {mode}", prepare=False)
                told = run(own, query, prepare=False).fetchone()[0][0]
                back(b"ROLLBACK TO before")
                yield mode, told


def valid_json(text: str | bytes):
    text = text if isinstance(text, str) else bytes(text).decode()
    return json.loads(TUPLES_MERGED.sub("", text))


def rows_of(node) -> float:
    """Read, with those that a filter dropped, in all loops."""
    dropped = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return (node["Actual Rows"] + dropped) * node["Actual Loops"]


@contextmanager
def watched(monkeypatch) -> Iterator[Watch]:
    """All that this process asks the database meanwhile, through whichever cursor."""
    watch, run = Watch(), psycopg.Cursor.execute
    looking = False

    def execute(cursor, query, params=None, **how):
        nonlocal looking
        if not looking:
            looking = True
            try:
                watch.look(run, cursor, query, params)
            finally:
                looking = False
        return run(cursor, query, params, **how)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", execute)
        # In a pipeline nothing could be asked in between; the statements are the same without.
        patched.setattr(psycopg.Connection, "pipeline", lambda _connection: nullcontext())
        yield watch
