from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from trackers import history
from trackers.backups.file import BackupError, Manifest, read_manifest, verify
from trackers.backups.load import Existing, check, existing, load, refuse_unfit
from trackers.checks import database_keeps_every_text
from trackers.history import by_command
from trackers.management.table_bar import TableBar
from trackers.tweets.archive.lease import rename_installation
from trackers.tweets.models import Tweet
from tweetwatch.amounts import amount

NEXT_STEPS = (
    "Now start everything again. Overdue tweets are looked up, and sources and the "
    "stream catch up. User tokens that were renewed after the backup must be entered "
    "again: `manage.py credential check` shows which credentials X still accepts."
)


class Command(BaseCommand):
    # The checks would look into a database that may be empty.
    requires_system_checks = ()
    help = "Restore a backup into an empty database: all of it, or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--check",
            action="store_true",
            help="only restore it on trial, into a scratch database that is removed again",
        )
        parser.add_argument(
            "--replace", action="store_true", help="first remove the tables of tweetwatch"
        )
        parser.add_argument("--no-input", action="store_true", help="do not ask for confirmation")
        parser.add_argument(
            "--without-keys",
            action="store_true",
            help="restore although its credentials cannot be decrypted",
        )
        parser.add_argument(
            "--programs",
            type=Path,
            help="the folder of pg_restore, if it is not found automatically",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = read_manifest(options["file"])
            refuse_unfit(manifest, without_keys=options["without_keys"])
            verify(options["file"], manifest)
            for fault in database_keeps_every_text():
                raise CommandError(f"{fault.msg} {fault.hint}")
            if options["check"]:
                self.try_out(options, manifest)
                return
            self.make_sure(options, existing())
            with TableBar("Restoring") as bar:
                load(
                    options["file"],
                    manifest,
                    replace=options["replace"],
                    folder=options["programs"],
                    progress=bar,
                )
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.bring_up_to_date(manifest)
        self.report(options, manifest, f"Restored {options['file']}.")
        if not options["json"]:
            self.stdout.write(NEXT_STEPS)

    def try_out(self, options: dict[str, Any], manifest: Manifest) -> None:
        path = options["file"]
        with TableBar("Checking") as bar:
            why = check(path, manifest, folder=options["programs"], progress=bar)
        sentence = f"{path} can be restored: it was, into a scratch database, with all its rows."
        if why is not None:
            sentence = (
                f"{path} is complete: its checksum is right, and pg_restore reads all of its "
                f"{len(manifest.entries):,} entries. It was not restored on trial, because no "
                f"scratch database could be made here ({why})."
            )
        self.report(options, manifest, sentence, restored=why is None)

    def make_sure(self, options: dict[str, Any], there: Existing) -> None:
        if not there.tables:
            return
        contents = f"{there.tables} tables of tweetwatch with about {there.rows:,} rows"
        if not options["replace"]:
            raise CommandError(
                f"The database is not empty: it has {contents}. Restore into an empty one, or give "
                "--replace to remove these."
            )
        if not options["no_input"]:
            # Not on standard output, which is for the result.
            self.stderr.write(
                f"Remove what is in the database ({contents})? Type “replace”: ",
                lambda text: text,
                ending="",
            )
            self.stderr.flush()
            if sys.stdin.readline().strip() != "replace":
                raise CommandError("Nothing was changed.")

    def bring_up_to_date(self, manifest: Manifest) -> None:
        """Migrate the tables to this version, and put every waiting key into one bucket."""
        call_command("migrate", verbosity=0, interactive=False)
        call_command("queue", "check", "--mend", stdout=self.stderr)
        rename_installation()
        tweets = manifest.tables["trackers_tweet"].rows
        what = f"Restored from a backup of {manifest.made_at:%Y-%m-%d %H:%M} UTC"
        history.record_many(by_command(), Tweet, tweets, what)

    def report(
        self, options: dict[str, Any], manifest: Manifest, what: str, *, restored: bool = True
    ) -> None:
        if options["json"]:
            result = {"made_at": manifest.made_at.isoformat(), "version": manifest.version}
            self.stdout.write(json.dumps({**result, "rows": manifest.rows, "restored": restored}))
            return
        tweets = manifest.tables["trackers_tweet"].rows
        self.stdout.write(
            f"{what} It was made on {manifest.made_at:%Y-%m-%d at %H:%M:%S} UTC by tweetwatch "
            f"{manifest.version} and has {amount(tweets, 'tweet')}, "
            f"{manifest.rows:,} rows in {len(manifest.tables)} tables."
        )
