from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from trackers.management.status import status


class Command(BaseCommand):
    help = "Tell how the watching goes: what is tracked, due, done, and by whom."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one object")

    def handle(self, *args: Any, **options: Any) -> None:
        told = status()
        if options["json"]:
            self.stdout.write(json.dumps(told))
            return
        for name, value in told.items():
            if isinstance(value, list):
                self.stdout.write(f"{name}:" + ("" if value else " none"))
                for row in value:
                    self.stdout.write("  " + ", ".join(f"{k} {worded(v)}" for k, v in row.items()))
            else:
                self.stdout.write(f"{name}: {worded(value)}")


def worded(value: object) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {worded(v)}" for k, v in value.items())
    if isinstance(value, list):
        return (
            "; ".join(" ".join(f"{k} {worded(v)}" for k, v in row.items()) for row in value) or "-"
        )
    return str(value)
