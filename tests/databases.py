"""The databases of a run: migrated once, cloned, and put back after each test that commits.

Each run has databases of its own names, so that several can run side by side on one server.

A clone costs a fifth of a second of a processor, since 970 relations are files. Putting back costs
a tenth of that: tables that were empty and are so no longer are truncated, the rows that migrations
made are copied back, sequences are set. Whatever else a test changed, such as a table, an index, a
setting or statistics, shows in the catalogs: the database is then dropped and cloned anew.
"""

import os
from contextlib import contextmanager, suppress
from urllib.parse import quote, urlencode

import psutil
import psycopg
from django.db import connection
from psycopg import sql

from tweetwatch.embedded.place import SUPERUSER

OURS = f"test_tweetwatch_{os.getpid()}"
TEMPLATE = f"{OURS}_template"
# Of all the processes of a run: the first of them migrates it, and the others copy it.
MIGRATED = f"test_tweetwatch_{os.getppid()}_migrated"


def url_of(database, *, user=None):
    """Where a database of the tests' server is, as DATABASE_URL says it."""
    params = connection.get_connection_params()
    who, secret = quote(user or params.get("user", ""), safe=""), params.get("password", "")
    who = f"{who}:{quote(secret, safe='')}" if secret else who
    host = params.get("host", "")
    if host.startswith("/") or not host:
        return f"postgres://{who}@/{database}?{urlencode({'host': host})}"
    return f"postgres://{who}@{host}:{params.get('port') or 5432}/{database}"


def administer(statement, *names):
    """One statement outside of every transaction, on the server's own database."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def clone(name, *, of):
    administer("CREATE DATABASE {} TEMPLATE {}", name, of)


def drop(name):
    administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def hurry():
    """Nothing that the embedded server of the tests holds is of use after a crash.

    Commits stay synchronous: after one whose record is not flushed yet, a VACUUM does not know the
    rows as visible to all, so that what plans cost and read would differ from run to run.
    And nothing lives long enough to be vacuumed; statistics that came by chance would make plans
    differ too.
    """
    with psycopg.connect(url_of("postgres", user=SUPERUSER), autocommit=True) as admin:
        for name in ("fsync", "full_page_writes"):
            admin.execute(f"ALTER SYSTEM SET {name} = off")
        admin.execute("ALTER SYSTEM SET autovacuum_naptime = '10min'")
        admin.execute("SELECT pg_reload_conf()")


def drop_leftovers():
    """The databases of runs that were killed."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        names = admin.execute(
            "SELECT datname FROM pg_database WHERE datname ~ '^test_tweetwatch_[0-9]+(_|$)'"
        ).fetchall()
    for (name,) in names:
        if not psutil.pid_exists(int(name.split("_")[2])):
            with suppress(psycopg.Error):
                administer("DROP DATABASE IF EXISTS {}", name)


@contextmanager
def one_at_a_time():
    """Of the processes of a run. Nothing to wait for where there is only one."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [MIGRATED])
        yield


# What TRUNCATE and COPY do not change, and any other change of the schema, of statistics or of
# settings does. Every other catalog's rows come with one in these.
SCHEMA = """
    SELECT
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_attribute WHERE attrelid >= 16384),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_attrdef),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_constraint),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_index),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_inherits),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_proc WHERE oid >= 16384),
        (SELECT count(*) FROM pg_stats
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema')),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_trigger),
        (SELECT (count(*), max(xmin::text::bigint)) FROM pg_type),
        (SELECT (count(*), sum(hashtextextended(relname || relkind::text || relowner
            || coalesce(reloptions::text, '') || coalesce(relacl::text, ''), 0)))
         FROM pg_class WHERE oid >= 16384),
        (SELECT count(*) FROM pg_namespace),
        (SELECT count(*) FROM pg_extension),
        (SELECT count(*) FROM pg_db_role_setting
         WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())))
"""
TABLES = """
    SELECT oid::regclass::text, pg_relation_size(oid) > 0 FROM pg_class
    WHERE relkind = 'r' AND oid >= 16384
"""
REFERENCES = """
    SELECT DISTINCT confrelid::regclass::text, conrelid::regclass::text
    FROM pg_constraint WHERE contype = 'f'
"""
COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ORDER BY attnum
"""
SEQUENCES = """
    SELECT format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value),
           last_value IS NOT NULL
    FROM pg_sequences
"""
END_OTHERS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type = 'client backend'
"""


class Original:
    """What a fresh database holds, and how a database becomes as fresh again."""

    def __init__(self, template):
        self.template = template
        # What was copied back into a database has versions of its own.
        self.versions_in = {}

    def read(self):
        with psycopg.connect(url_of(self.template), autocommit=True) as db:
            self.schema = db.execute(SCHEMA).fetchone()
            tables = db.execute(TABLES).fetchall()
            self.seeded = in_order(
                [name for name, is_filled in tables if is_filled],
                references := db.execute(REFERENCES).fetchall(),
            )
            self.empty = {name for name, is_filled in tables if not is_filled}
            self.references = {}
            for referenced, by in references:
                self.references.setdefault(referenced, set()).add(by)
            self.sequences = {name: rest for name, *rest in db.execute(SEQUENCES).fetchall()}
            self.rows = {name: copied(db, name) for name in self.seeded}
            self.versions = versions(db, self.seeded)

    def clone(self, name):
        clone(name, of=self.template)
        self.versions_in.pop(name, None)

    def rename(self, name, new):
        """A process that still knows the one name does not find what has the other."""
        administer("ALTER DATABASE {} RENAME TO {}", name, new)
        if name in self.versions_in:
            self.versions_in[new] = self.versions_in.pop(name)

    def put_back(self, name):
        with suppress(psycopg.Error):
            if self._undo(name):
                return
        drop(name)
        self.clone(name)

    def _undo(self, name):
        """Whether it is as fresh again."""
        with psycopg.connect(url_of(name), autocommit=True) as db:
            db.execute("SET lock_timeout = '5s'")
            db.execute(END_OTHERS)
            if db.execute(SCHEMA).fetchone() != self.schema:
                return False
            now = versions(db, self.seeded)
            before = self.versions_in.get(name, self.versions)
            changed = {table for table in self.seeded if now[table] != before[table]}
            changed |= {
                table
                for table, is_filled in db.execute(TABLES).fetchall()
                if is_filled and table in self.empty
            }
            moved = [
                (sequence, *rest)
                for sequence, *rest in db.execute(SEQUENCES).fetchall()
                if rest != self.sequences[sequence]
            ]
            with db.transaction():
                if changed:
                    changed = self._with_all_that_refer_to(changed)
                    db.execute(f"TRUNCATE {', '.join(sorted(changed))}")
                for table in self.seeded:
                    if table in changed:
                        columns, rows = self.rows[table]
                        with db.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                            copy.write(rows)
                for sequence, *_ in moved:
                    value, is_called = self.sequences[sequence]
                    db.execute("SELECT setval(%s, %s, %s)", [sequence, value, is_called])
            if changed & set(self.seeded):
                self.versions_in[name] = versions(db, self.seeded)
        return True

    def _with_all_that_refer_to(self, tables):
        """Of TRUNCATE's own accord these would only be refused."""
        collected, more = set(), set(tables)
        while more:
            collected |= more
            more = set().union(*(self.references.get(one, ()) for one in more)) - collected
        return collected


def in_order(tables, references):
    """Each after those that its rows refer to."""
    needed = {
        table: {to for to, by in references if by == table and to in tables} - {table}
        for table in tables
    }
    ordered = []
    while needed:
        ready = sorted(table for table, others in needed.items() if others <= set(ordered))
        ordered += ready
        needed = {table: others for table, others in needed.items() if table not in ready}
    return ordered


def copied(db, table):
    """The columns of a table that can be written, and its rows."""
    columns = ", ".join(f'"{column}"' for (column,) in db.execute(COLUMNS, [table]).fetchall())
    with db.cursor().copy(f"COPY {table} ({columns}) TO STDOUT") as copy:
        return columns, b"".join(copy)


def versions(db, tables):
    """Of the rows of each table: another row, or another version of one, makes them differ."""
    each = [f"SELECT '{table}', count(*), max(xmin::text::bigint) FROM {table}" for table in tables]
    return {table: rest for table, *rest in db.execute(" UNION ALL ".join(each)).fetchall()}
