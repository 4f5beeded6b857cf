"""`manage.py rotate_field_keys`: run it after putting a new key first in FIELD_KEYS."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from trackers.credentials.secrets import SecretUnreadableError
from trackers.history import by_command
from trackers.management.pageless import PagelessCommand
from trackers.tokens import acts


class Command(PagelessCommand):
    help = (
        "Re-encrypt all secrets with the first of FIELD_KEYS. The others can be removed afterwards."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = acts.encrypt_anew(by_command())
        except SecretUnreadableError as error:
            raise CommandError(f"Nothing was changed. {error}") from None
        self.show({"rotated": done.count}, done.message)
