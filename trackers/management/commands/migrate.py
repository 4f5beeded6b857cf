"""Django's `migrate`, beside working workers: it gives way instead of making them wait.

A change of a table needs it exclusively for a moment. While it waits for a long reader, such as
pg_dump, every worker queues up behind it. So it waits for a second only, lets the others pass, and
tries again; a migration that was given up is rolled back, and those before it stay.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import InterfaceError, OperationalError, connections
from django.db.migrations import Migration
from psycopg.errors import LockNotAvailable

from fakex.arguments import whole
from trackers.management.pageless import PagelessCommand

LOCK_TIMEOUT = "1s"
# For the others to get through.
RETRY_SECONDS = 3.0


class Command(PagelessCommand, migrate.Command):
    database = "default"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)  # type: ignore[arg-type]
        parser.add_argument(
            "--give-up-after",
            type=whole(0, 86_400),
            default=300,
            metavar="SECONDS",
            help="how long to keep trying while a table is in use",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.database = options["database"]
        deadline = time.monotonic() + options["give_up_after"]
        while True:
            try:
                super().handle(*args, **options)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
                if time.monotonic() > deadline:
                    raise CommandError(
                        "A table stayed in use, so it could not be changed. Look for a backup, a "
                        "report or a forgotten transaction (pg_stat_activity), and run migrate "
                        "again. What has been migrated so far stays."
                    ) from None
                self.stdout.write("\n  a table is in use; trying again …")
                time.sleep(RETRY_SECONDS)
            finally:
                self.wait_at_most("0")

    def migration_progress_callback(
        self, action: str, migration: Migration | None = None, fake: bool = False
    ) -> None:
        if action in ("apply_start", "unapply_start") and migration is not None:
            # Building an index concurrently waits for the others, and none of them for it.
            self.wait_at_most(LOCK_TIMEOUT if migration.atomic else "0")
        super().migration_progress_callback(action, migration, fake)

    def wait_at_most(self, how_long: str) -> None:
        connection = connections[self.database]
        with suppress(OperationalError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [how_long])
