from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from tweetwatch.embedded.place import Place
from tweetwatch.embedded.status import describe
from tweetwatch.embedded.versions import OtherVersionError


class Command(BaseCommand):
    # The checks would start the server.
    requires_system_checks = ()
    help = "Show the embedded PostgreSQL, or upgrade its data to the installed version."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("status", help="show what runs, and which processes use it")
        upgrade = commands.add_parser(
            "upgrade", help="copy the data from an older PostgreSQL version"
        )
        upgrade.add_argument(
            "--old-programs",
            type=Path,
            help="folder of the older version's programs, such as /usr/lib/postgresql/15/bin; "
            "those of the package and of the system are found automatically",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        place = Place.at(settings.EMBEDDED_POSTGRES_DIR)
        if options["command"] == "status":
            self.stdout.write(describe(place)[1])
            return
        # Imported here: the server's package is slow to load, and `status` does not need it.
        from tweetwatch.embedded.upgrade import UpgradeError, upgrade

        try:
            kept = upgrade(place, old_programs=options["old_programs"], say=self.stdout.write)
        except (UpgradeError, OtherVersionError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"Upgraded. The old data is in {kept}. Remove it once you have checked the new one."
        )
