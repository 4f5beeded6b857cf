"""The application's role: not a superuser, so that its statements reach no file and no program.

It owns its database and the tables. It may create databases (tests, `bench`), see everybody's
statistics (the oldest snapshot may be another role's), request a checkpoint (`bench`), and end
sessions of other roles except superusers: autovacuum may be at work in a database to be dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

from tweetwatch.embedded.place import DATABASE, ROLE, SUPERUSER

Connection = psycopg.Connection[Any]
Connect = Callable[[str, str], Connection]

# Two processes may come at once; the slower one waits, and finds it done.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended('tweetwatch: role', 0))"
# A table may be in use; the caller will try again.
PATIENCE = "SET LOCAL lock_timeout = '5s'"
DATABASE_EXISTS = "SELECT 1 FROM pg_database WHERE datname = %s"
ROLE_EXISTS = "SELECT 1 FROM pg_roles WHERE rolname = %s"
MAKE_ROLE = """
    CREATE ROLE {role} LOGIN CREATEDB IN ROLE pg_read_all_stats, pg_checkpoint, pg_signal_backend
"""
# Left by a version that connected as the superuser: tables, and sequences that no table owns.
OF_THE_SUPERUSER = """
    SELECT 'ALTER TABLE ' || class.oid::regclass
    FROM pg_class class
    WHERE relowner = %(superuser)s::regrole AND relnamespace = 'public'::regnamespace
        AND (relkind IN ('r', 'p') OR relkind = 'S' AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
                AND objid = class.oid AND deptype IN ('a', 'i')))
        AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
                AND objid = class.oid AND deptype = 'e')
    ORDER BY class.oid
"""
DATABASES_OF_THE_SUPERUSER = """
    SELECT datname FROM pg_database
    WHERE datdba = %s::regrole AND NOT datistemplate AND datname <> 'postgres' ORDER BY datname
"""


def is_prepared(connection: Connection) -> bool:
    """Whether nothing is left to hand over; the connection is the role's own."""
    return not connection.execute(OF_THE_SUPERUSER, {"superuser": SUPERUSER}).fetchall()


def prepare(connect: Connect) -> None:
    """Create the database and the role, and hand over what the superuser created.

    psycopg.Error if another process was a moment faster, or if a table is in use: try again.
    """
    with connect(SUPERUSER, "postgres") as admin:
        if admin.execute(DATABASE_EXISTS, [DATABASE]).fetchone() is None:
            admin.execute(_named("CREATE DATABASE {database}"))
    with connect(SUPERUSER, DATABASE) as admin, admin.transaction():
        admin.execute(PATIENCE)
        admin.execute(ONE_AT_A_TIME)
        if admin.execute(ROLE_EXISTS, [ROLE]).fetchone() is None:
            admin.execute(_named(MAKE_ROLE))
        for (alter,) in admin.execute(OF_THE_SUPERUSER, {"superuser": SUPERUSER}).fetchall():
            admin.execute(f"{alter} OWNER TO {ROLE}")
        for (name,) in admin.execute(DATABASES_OF_THE_SUPERUSER, [SUPERUSER]).fetchall():
            owned = sql.SQL("ALTER DATABASE {} OWNER TO {}")
            admin.execute(owned.format(sql.Identifier(name), sql.Identifier(ROLE)))


def _named(statement: str) -> sql.Composed:
    names = {"role": sql.Identifier(ROLE), "database": sql.Identifier(DATABASE)}
    return sql.SQL(statement).format(**names)
