from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from tweetwatch.embedded.place import Place
from tweetwatch.embedded.status import describe


class Command(BaseCommand):
    # The checks would start the server.
    requires_system_checks = ()
    help = "Show the embedded PostgreSQL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("status", help="show what runs, and which processes use it")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(describe(Place.at(settings.EMBEDDED_POSTGRES_DIR))[1])
