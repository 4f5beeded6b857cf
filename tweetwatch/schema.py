"""Which databases this program works with, asked at the first connection of a process.

made before 1.0                     ─> refused by all
lacks migrations, or is for newer   ─> what serves waits for it, as for one that is away
programs only                          (`wait_for_fitting_database`)
A process that has seen a fitting one does not ask again, and works on beside `migrate`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# A migration after which the programs before it cannot work raises this by one, and redefines
# trackers_oldest_program() to return it.
PROGRAM = 1
# Every database of before 1.0 has it, and none since. Its tables have the names of today's and not
# their columns, so nothing may begin on it.
OLD_MIGRATION = ("trackers", "0001_initial")
_HAS_MIGRATIONS = "SELECT to_regclass('django_migrations') IS NOT NULL"
_IS_OLD = "SELECT EXISTS (SELECT FROM django_migrations WHERE app = %s AND name = %s)"
_OLDEST_PROGRAM = "SELECT trackers_oldest_program()"


class OldDatabaseError(ImproperlyConfigured):
    def __init__(self) -> None:
        super().__init__(
            "This database was made before tweetwatch 1.0, which cannot use it: give DATABASE_URL "
            "an empty one, or remove the embedded one's folder (var/postgres)."
        )


class UnfitDatabaseError(OperationalError):
    """The database is not as this program needs it, and may become so: as if it were away."""


def refuse_old_databases() -> None:
    connection_created.connect(_refuse_old_database, dispatch_uid="old databases")


def wait_for_fitting_database() -> None:
    """From now on each connection raises UnfitDatabaseError, until one finds that all fits."""
    connections.close_all()
    connection_created.connect(_refuse_unfit_database, dispatch_uid="unfit databases")


def lacking_migrations(connection: BaseDatabaseWrapper) -> int:
    """How many migrations of this program the database does not have."""
    return len(_known_migrations() - set(MigrationRecorder(connection).applied_migrations()))


def _refuse_old_database(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Once in a process; the databases beside ours, such as a server's own, do not count."""
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    with connection.cursor() as cursor:
        cursor.execute(_HAS_MIGRATIONS)
        if cursor.fetchone() == (True,):
            cursor.execute(_IS_OLD, OLD_MIGRATION)
            if cursor.fetchone() == (True,):
                # Else the next to ask would get this connection.
                connection.close()
                raise OldDatabaseError
    connection_created.disconnect(dispatch_uid="old databases")


def _refuse_unfit_database(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    if why := _why_unfit(connection):
        # Else the next to ask would get this connection.
        connection.close()
        raise UnfitDatabaseError(why)
    connection_created.disconnect(dispatch_uid="unfit databases")


def _why_unfit(connection: BaseDatabaseWrapper) -> str:
    """What a person has to do first; empty if the database fits."""
    if lacking := lacking_migrations(connection):
        migrations = "a migration" if lacking == 1 else f"{lacking} migrations"
        return (
            f"The database lacks {migrations} of this version of tweetwatch. Run manage.py "
            "migrate; everything goes on by itself then."
        )
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST_PROGRAM)
        row = cursor.fetchone()
    if row is not None and row[0] > PROGRAM:
        return (
            "The database was migrated by a newer tweetwatch, and this version can no longer use "
            "it. Install that version here, too."
        )
    return ""


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Those of the code that runs here, read from disk once."""
    return frozenset(MigrationLoader(None).disk_migrations)
