from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat, pluralize
from django.utils import timezone

from fakex.arguments import whole
from trackers.backups.dump import back_up
from trackers.backups.file import ENDING, STAMP, BackupError, Manifest, remove_older
from trackers.management.pageless import PagelessCommand
from trackers.management.table_bar import TableBar
from tweetwatch.amounts import amount

KEYS_REMINDER = (
    "It does not contain FIELD_KEYS or SECRET_KEY. Keep a copy of .env away from the "
    "backups: without FIELD_KEYS the credentials in them are lost."
)
_MAX_NAMED = 20


def _shortened(names: list[str]) -> str:
    named = names[:_MAX_NAMED]
    rest = len(names) - len(named)
    return ", ".join([*named, f"and {rest:,} more (--json names all)"] if rest else named)


class Command(PagelessCommand):
    help = "Back up the database to one file while everything keeps running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "where",
            type=Path,
            help=f"a folder, where the file is named after the time, or a file named *{ENDING}",
        )
        parser.add_argument(
            "--keep",
            type=whole(1, 100_000),
            metavar="N",
            help="then keep the N newest backups in the folder and remove older ones",
        )
        parser.add_argument(
            "--programs", type=Path, help="the folder of pg_dump, if it is not found automatically"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        where: Path = options["where"]
        now = timezone.now()
        target = where if where.suffix == ENDING else where / f"{now:{STAMP}}{ENDING}"
        if not target.parent.is_dir():
            raise CommandError(f"{target.parent} is not a folder. Create it first.")
        if options["keep"] and target == where:
            raise CommandError("--keep needs a folder of backups, not a file.", returncode=2)
        try:
            with TableBar("Backing up") as bar:
                manifest = back_up(target, now=now, folder=options["programs"], progress=bar)
        except BackupError as error:
            raise CommandError(str(error)) from None
        removed = remove_older(where, keep=options["keep"]) if options["keep"] else []
        if options["json"]:
            result = {"file": str(target), "removed": len(removed), "rows": manifest.rows}
            result["left_out"] = manifest.left_out
            self.stdout.write(json.dumps({**result, "bytes": os.stat(target).st_size}))
            return
        self.report(target, manifest)
        for path in removed:
            self.stdout.write(f"Removed {path}.")

    def report(self, target: Path, manifest: Manifest) -> None:
        tweets = manifest.tables["trackers_tweet"].rows
        self.stdout.write(
            f"{target}: {filesizeformat(os.stat(target).st_size)}, "
            f"{amount(tweets, 'tweet')}, {amount(manifest.rows, 'row')} in "
            f"{amount(len(manifest.tables), 'table')}.\n"
            f"{KEYS_REMINDER}"
        )
        if manifest.left_out:
            self.stdout.write(
                "It does not contain what is not tweetwatch's: "
                f"{_shortened(manifest.left_out)}. Back that up by other means."
            )
        if count := manifest.unreadable:
            self.stderr.write(
                f"{amount(count, 'secret')} in the database cannot be decrypted with any "
                f"key in FIELD_KEYS, and {pluralize(count, 'is,are')} in the backup as "
                f"{pluralize(count, 'it is,they are')}."
            )
