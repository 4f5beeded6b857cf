from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from trackers.management.pageless import PagelessCommand
from trackers.management.status_json import status_json
from trackers.management.status_lines import status_lines


class Command(PagelessCommand):
    help = "Show what is tracked, what is due, what was done, and which workers run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        figures = status_json()
        if options["json"]:
            self.stdout.write(json.dumps(figures))
            return
        for line in status_lines(figures):
            self.stdout.write(line)
