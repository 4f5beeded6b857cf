"""Refuses a database of before 1.0, whose migrations were others: at the first connection to it.

Its tables have the names of today's and not their columns, so nothing may begin on it.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# Every such database has it, and none since.
OLD_MIGRATION = ("trackers", "0001_initial")
_HAS_MIGRATIONS = "SELECT to_regclass('django_migrations') IS NOT NULL"
_IS_OLD = "SELECT EXISTS (SELECT FROM django_migrations WHERE app = %s AND name = %s)"


class OldDatabaseError(ImproperlyConfigured):
    def __init__(self) -> None:
        super().__init__(
            "This database was made before tweetwatch 1.0, which cannot use it: give DATABASE_URL "
            "an empty one, or remove the embedded one's folder (var/postgres)."
        )


def refuse_old_databases() -> None:
    connection_created.connect(_refuse_old_database, dispatch_uid="old databases")


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
