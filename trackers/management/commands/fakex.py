"""`manage.py fakex`: the fake X, for the demo, tests and benchmarks."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from fakex.options import add_options, run


class Command(BaseCommand):
    help = "Serve a faithful fake of the X API with a seeded, growing world."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_options(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        run(options)
