"""`manage.py rotate_field_keys`: run it after putting a new key first in FIELD_KEYS."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from trackers import history
from trackers.credentials.models import Credential
from trackers.credentials.rotation import encrypt_anew
from trackers.credentials.secrets import SecretUnreadableError
from trackers.history import by_command
from trackers.management.pageless import PagelessCommand


class Command(PagelessCommand):
    help = (
        "Re-encrypt all secrets with the first of FIELD_KEYS. The others can be removed afterwards."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = encrypt_anew()
        except SecretUnreadableError as error:
            raise CommandError(f"Nothing was changed. {error}") from None
        history.record_many(by_command(), Credential, count, "Re-encrypted the secrets")
        if options["json"]:
            self.stdout.write(json.dumps({"rotated": count}))
        else:
            self.stdout.write(
                f"Re-encrypted the secrets of {count} credentials and subscribers with the first "
                "of FIELD_KEYS."
            )
