"""`manage.py archive`: old months of samples as Parquet files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from trackers.management.pageless import ActionsCommand, AddAction
from trackers.tweets.archive.adopt import adopt
from trackers.tweets.archive.check import check
from trackers.tweets.archive.layout import archived_before
from trackers.tweets.archive.lease import ArchiveError
from trackers.tweets.archive.store import Store, configured
from trackers.tweets.archive.write import archive_months
from tweetwatch.amounts import amount
from tweetwatch.pieces import Deadline

# Between files: a lease is renewed, and a file has at most so many seconds of rows.
_PER_FILE_S = 60
ELSEWHERE = (
    "Another process writes to the archive; the workers do so every hour. If it was killed, try "
    "again in a minute."
)


class Command(ActionsCommand):
    help = "Move old months of samples to ARCHIVE, as Parquet."

    def add_actions(self, add_action: AddAction) -> None:
        write = add_action("write", help="move what is old enough; the workers do so every hour")
        write.add_argument(
            "--older-than",
            type=int,
            default=settings.ARCHIVE_OLDER_THAN,
            metavar="MONTHS",
            help="months that ended so long ago (default: ARCHIVE_OLDER_THAN)",
        )
        add_action("check", help="read all of it, and compare it with what was written")
        add_action("adopt", help="go on with an archive of before a restore, or of another one")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except (ArchiveError, OSError) as error:
            raise CommandError(str(error)) from None

    def do_write(self, options: Mapping[str, Any]) -> None:
        if options["older_than"] < 2:
            raise CommandError("--older-than is at least 2 months.")
        store = self.store()
        before = archived_before(timezone.now(), options["older_than"])
        samples = files = 0
        with tqdm(unit=" samples", unit_scale=True, disable=not sys.stderr.isatty()) as bar:
            while True:
                worked = archive_months(
                    store, before=before, deadline=Deadline.after(_PER_FILE_S), progress=bar.update
                )
                samples += worked.samples
                files += worked.files
                if worked.is_done or worked.is_elsewhere:
                    break
        if worked.is_elsewhere:
            raise CommandError(ELSEWHERE)
        self.show(
            {"samples": samples, "files": files},
            f"{amount(samples, 'sample')} moved to {store}, in {amount(files, 'file')}.",
        )

    def do_adopt(self, options: Mapping[str, Any]) -> None:
        store = self.store()
        if (adopted := adopt(store)) is None:
            raise CommandError(ELSEWHERE)
        self.show(
            {"samples": adopted.samples, "files": adopted.files},
            f"{store} is this installation's now. {amount(adopted.files, 'file')} with "
            f"{amount(adopted.samples, 'sample')} were not known here before.",
        )

    def do_check(self, options: Mapping[str, Any]) -> None:
        store = self.store()
        faults: list[dict[str, str]] = []
        files = 0
        with tqdm(unit=" files", disable=not sys.stderr.isatty()) as bar:
            for path, fault in check(store):
                files += 1
                bar.update()
                if fault:
                    faults.append({"path": path, "fault": fault})
        lines = [f"{one['path']}: {one['fault']}" for one in faults]
        self.show(
            {"files": files, "faults": faults},
            "\n".join([*lines, f"{amount(files, 'file')} read, {len(faults)} with a fault."]),
        )
        if faults:
            sys.exit(1)

    def store(self) -> Store:
        if (store := configured()) is None:
            raise CommandError("Set ARCHIVE in .env first: pages read the archive there too.")
        return store
