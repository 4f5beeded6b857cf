"""`manage.py archive`: old months of samples as Parquet files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from trackers import history
from trackers.history import by_command
from trackers.ingest.files.lines import READERS
from trackers.management.input_tweets import InputTweets
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.management.untracking import (
    Ids,
    Interrupted,
    confirm_or_stop,
    id_array,
    tracked_ids,
    tweet_count_text,
    untrack_ids,
)
from trackers.tweets.archive.adopt import adopt
from trackers.tweets.archive.check import check_files
from trackers.tweets.archive.erase import count_archived, note_erased
from trackers.tweets.archive.layout import OWNER_FILE, archived_before
from trackers.tweets.archive.lease import ArchiveError
from trackers.tweets.archive.receipts import removed_elsewhere
from trackers.tweets.archive.store import Store, configured
from trackers.tweets.archive.write import archive_months
from trackers.tweets.models import Tweet
from tweetwatch.amounts import amount
from tweetwatch.command_line import EXIT_USAGE
from tweetwatch.interrupts import INTERRUPTED
from tweetwatch.pieces import Deadline

# Between files: a lease is renewed, and a file has at most so many seconds of rows.
_PER_FILE_S = 60
ELSEWHERE = (
    "Another process writes to the archive; the workers do so every hour. If it was killed, try "
    "again in a minute."
)
OLD_VERSIONS = (
    "The bucket keeps old versions: what was erased stays readable in them, until a rule of the "
    "bucket deletes versions that are not the newest, or for as long as its object lock lasts."
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
        erase = add_action("erase", help="remove tweets that are not tracked from the archive")
        erase.add_argument("what", nargs="+", metavar="ID|URL|FILE|-")
        erase.add_argument("--format", choices=["auto", *READERS], default="auto")
        erase.add_argument("--column", help="for a CSV: the column with the tweets")
        erase.add_argument("--yes", action="store_true", help="do not ask for confirmation")

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
        # First, so that the archive is another one's until they are gone.
        untracked = self.untrack_removed(store)
        if (adopted := adopt(store)) is None:
            raise CommandError(ELSEWHERE)
        self.show(
            {"samples": adopted.samples, "files": adopted.files, "untracked": untracked},
            f"{store} is this installation's now. {amount(adopted.files, 'file')} with "
            f"{amount(adopted.samples, 'sample')} were not known here before.",
        )

    def untrack_removed(self, store: Store) -> int:
        """Those that people removed after the backup that was restored."""
        removed = id_array(removed_elsewhere(store))
        if not removed:
            return 0
        self.say(
            f"{tweet_count_text(len(removed))} that people removed after the backup: untracked "
            "again."
        )
        try:
            return untrack_ids(removed)
        except Interrupted:
            sys.exit(INTERRUPTED)

    def do_erase(self, options: Mapping[str, Any]) -> None:
        store = self.store()
        input_tweets = InputTweets(self.say, format=options["format"], column=options["column"])
        ids = id_array(sorted(set(input_tweets.ids(options["what"]))))
        _refuse_tracked(ids)
        archived = count_archived(ids)
        result = {"tweets": len(ids), "archived": archived}
        if not archived:
            self.show(result, f"The archive has nothing of {_these(ids)}.")
            return
        confirm_or_stop(
            f"{_may_have(ids, archived)} Remove them from {store} for good?", yes=options["yes"]
        )
        noted = note_erased(ids)
        history.record_many(
            by_command(), Tweet, noted, "Erased from the archive", flag=history.DELETION
        )
        self.show(
            result,
            f"{_may_have(ids, archived)} They are read there no more. Within two hours the "
            "workers make the files anew that have some of them, and then write a receipt.",
        )

    def do_check(self, options: Mapping[str, Any]) -> None:
        store = self.store()
        keeps_versions = store.keeps_versions(OWNER_FILE)
        faults: list[dict[str, str]] = []
        files = 0
        with tqdm(unit=" files", disable=not sys.stderr.isatty()) as bar:
            for path, fault in check_files(store):
                files += 1
                bar.update()
                if fault:
                    faults.append({"path": path, "fault": fault})
        lines = [f"{one['path']}: {one['fault']}" for one in faults]
        if keeps_versions:
            lines.append(OLD_VERSIONS)
        self.show(
            {"files": files, "faults": faults, "keeps_versions": keeps_versions},
            "\n".join([*lines, f"{amount(files, 'file')} read, {len(faults)} with a fault."]),
        )
        if faults:
            sys.exit(1)

    def store(self) -> Store:
        if (store := configured()) is None:
            raise CommandError("Set ARCHIVE in .env first: pages read the archive there too.")
        return store


def _refuse_tracked(ids: Ids) -> None:
    """What the archive has of these is their history."""
    if tracked := tracked_ids(ids):
        raise CommandError(
            f"{tweet_count_text(len(tracked))} of these, such as {tracked[0]}, are still tracked, "
            "so nothing was erased. untrack removes a tweet's whole history, from the archive too.",
            returncode=EXIT_USAGE,
        )


def _these(ids: Ids) -> str:
    return "this tweet" if len(ids) == 1 else f"these {len(ids):,} tweets"


def _may_have(ids: Ids, archived: int) -> str:
    """A file is known by the first and the last id in it, so whether a tweet is there is not."""
    return f"Of {_these(ids)} the archive may have {archived:,}, by the ids of its files."
