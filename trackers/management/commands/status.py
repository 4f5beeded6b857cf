from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from trackers.management.pageless import PagelessCommand
from trackers.management.status import status
from trackers.management.status_words import lines


class Command(PagelessCommand):
    help = "Show what is tracked, what is due, what was done, and which workers run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        told = status()
        if options["json"]:
            self.stdout.write(json.dumps(told))
            return
        for line in lines(told):
            self.stdout.write(line)
