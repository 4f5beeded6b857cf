"""Django's PostgreSQL backend, which leaves a database that can only be read.

Such a connection works for years: to a standby, to which a name led for a moment during a failover,
or to a primary of before one. So it is closed at the first statement that is refused as read-only
(SQLSTATE 25006), and the next connection finds the primary, if there is one.
"""

from __future__ import annotations

from types import TracebackType

from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.errors import ReadOnlySqlTransaction


class DatabaseWrapper(base.DatabaseWrapper):
    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        return _ErrorWrapper(self)

    def leave(self) -> None:
        """Close this connection, and those that wait in the pool; others of the pool are closed
        when they come back to it."""
        if self.pool:
            self.pool.drain()
        self.close()


class _ErrorWrapper(DatabaseErrorWrapper):
    wrapper: DatabaseWrapper

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(exc_value, ReadOnlySqlTransaction):
            self.wrapper.leave()
        super().__exit__(exc_type, exc_value, traceback)
