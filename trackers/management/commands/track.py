from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.management.base import CommandError
from tqdm import tqdm

from trackers.history import by_command
from trackers.ingest.files.acts import record_tracked
from trackers.ingest.files.archive import Archive
from trackers.ingest.files.cost import cost_of_lookups
from trackers.ingest.files.cut_archive import NO_TWEETS_IN_ARCHIVE, with_tweets
from trackers.ingest.files.firstbytes import LOOKED_AT, ZIP, check_first_bytes, first_bytes
from trackers.ingest.files.limits import Limits, Taken
from trackers.ingest.files.lines import READERS, read_tweets
from trackers.ingest.files.opening import lines_of, packer_of
from trackers.ingest.files.sheets import NEEDS_SEEKING, ROUNDS, SheetLines, kind_of_sheet
from trackers.ingest.files.track_lines import TrackedLines
from trackers.ingest.found_tweets import (
    DoubtError,
    FoundTweet,
    Options,
    Rejected,
    TooLargeError,
    UnreadableError,
)
from trackers.ingest.track_all import track_stream
from trackers.ingest.tweet_ids import id_of
from trackers.management.import_cost import ask_about_cost, within_budget
from trackers.management.input_files import AT_TERMINAL, STDIN, open_input, require_input
from trackers.management.pageless import PagelessCommand

MAX_LINES_SHOWN = 1000
# How often progress is printed to a log, where no bar is shown.
PROGRESS_EVERY_SECONDS = 10.0
# What so few cost is said by the budgets' pages.
_SAID_FROM = 1000


class Command(PagelessCommand):
    help = (
        "Track tweets: ids, addresses, files of them (ids, CSV, JSONL of v2 or v1.1, a tweet "
        "archive's tweets.js; plain, packed with gzip, bzip2 or xz, or in a ZIP archive, such as "
        "X's own), or - for standard input. After an interruption, give the file again: "
        "what is tracked already stays as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="*", metavar="ID|URL|FILE|-")
        parser.add_argument("--format", choices=["auto", *READERS], default="auto")
        parser.add_argument(
            "--column", help="for a CSV: the name or number of the column with the tweets"
        )
        parser.add_argument(
            "--referenced",
            action="store_true",
            help="also the tweets that those in the file retweet, quote or answer",
        )
        parser.add_argument(
            "--measured-at",
            metavar="NAME",
            help="the field or column that says when the tweets' counts were measured",
        )
        parser.add_argument(
            "--anyway",
            action="store_true",
            help="also track what is probably no tweet: rounded ids, numbers of rows, accounts",
        )
        parser.add_argument(
            "--paused",
            action="store_true",
            help="ids and texts only: nothing is looked up until the tweets are resumed",
        )
        parser.add_argument(
            "--yes", action="store_true", help="do not ask if it costs more than the day's budget"
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        what: list[str] = options["what"] or [STDIN]
        if not options["what"] and sys.stdin.isatty():
            raise CommandError(
                "Give tweet ids, addresses or files; - reads standard input.",
                returncode=2,
            )
        ids = [name for name in what if id_of(name) is not None]
        files = [name for name in what if id_of(name) is None]
        for name in files:
            require_input(name)
        self.total, self.rejected, self.warnings = TrackedLines(), 0, 0
        self.limits = Limits(settings.IMPORT_MOST_BYTES, settings.IMPORT_MOST_LINES)
        self.is_paused: bool = options["paused"]
        began, name = time.monotonic(), ""
        try:
            chosen = Options(anyway=options["anyway"])
            self.track(read_tweets(ids, format="ids", options=chosen), "the command line")
            for name in files:
                self.track_file(name, options)
        except TooLargeError as error:
            self.show_counts(began)
            raise CommandError(f"{name}: {error} The tweets counted so far are tracked.") from error
        except UnreadableError as error:
            self.show_so_far(began)
            option = " --anyway takes them as they are." if isinstance(error, DoubtError) else ""
            where = f"{name}: " if name else ""
            raise CommandError(f"{where}{error}{option}", returncode=2) from error
        except CommandError:
            self.show_so_far(began)
            raise
        except BrokenPipeError:
            raise
        except OSError as error:
            self.show_so_far(began)
            fault = error.strerror or error
            raise CommandError(f"{name} cannot be read: {fault}.", returncode=2) from error
        except KeyboardInterrupt:
            self.stderr.write("Interrupted: what was counted so far is tracked.")
            self.show_counts(began)
            sys.exit(130)
        self.show_counts(began)
        if not self.total.tracked and not self.total.already:
            sys.exit(1)

    def track_file(self, name: str, options: dict[str, Any]) -> None:
        came_from = "standard input" if name == STDIN else f"the file {Path(name).name}"
        before, unread = self.total.read, []
        chosen = Options(
            column=options["column"],
            referenced=options["referenced"],
            measured_at=options["measured_at"],
            anyway=options["anyway"],
            on_note=lambda sentence: _write_note(f"{name}: {sentence}"),
        )
        is_asked = self.is_paused or options["yes"]
        if not is_asked and name != STDIN and Path(name).is_file():
            cost = ask_about_cost(name, format=options["format"], options=chosen, yes=False)
            is_asked = True
            if cost.tweets >= _SAID_FROM:
                _write_note(f"{name}: {cost}")
        with open_input(name) as file:
            size = None if name == STDIN else Path(name).stat().st_size or None
            progress = FileProgress(name, size, self.limits)
            try:
                for lines in progress.texts_of(file):
                    try:
                        stream = read_tweets(lines, format=options["format"], options=chosen)
                        if not is_asked:
                            stream = within_budget(stream, cost_of_lookups(0))
                        self.track(stream, came_from)
                    except TooLargeError:
                        raise
                    except UnreadableError as error:
                        # The other files of an archive are read all the same.
                        unread.append(error)
            finally:
                progress.end()
        if unread:
            raise unread[0]
        if self.total.read == before:
            _write_note(f"{name}: There are no tweets in it.")

    def track(self, stream: Iterable[FoundTweet | Rejected], came_from: str) -> None:
        for chunk in track_stream(stream, came_from=came_from, paused=self.is_paused):
            self.total.read += chunk.read
            self.total.tracked += chunk.tracked
            self.total.already += chunk.already
            for rejected in chunk.rejected:
                self.rejected += 1
                self.reject(rejected)
            for odd in chunk.odd:
                self.warnings += 1
                self.warn(odd)

    def reject(self, rejected: Rejected) -> None:
        if self.rejected <= MAX_LINES_SHOWN:
            _write_note(f"line {rejected.line}: {rejected.text!r} {rejected.why}")
        elif self.rejected == MAX_LINES_SHOWN + 1:
            _write_note("Further rejected lines are counted, but not shown.")

    def warn(self, odd: FoundTweet) -> None:
        if self.warnings <= MAX_LINES_SHOWN:
            _write_note(f"line {odd.line}: tweet {odd.id} is tracked, but {odd.odd}")
        elif self.warnings == MAX_LINES_SHOWN + 1:
            _write_note("Further warnings are counted, but not shown.")

    def show_so_far(self, began: float) -> None:
        """Where one of several files is refused, those before it are tracked."""
        if self.total.read:
            self.show_counts(began)

    def show_counts(self, began: float) -> None:
        record_tracked(self.total.tracked, by_command())
        counts = {
            "read": self.total.read,
            "tracked": self.total.tracked,
            "already": self.total.already,
            "rejected": self.rejected,
            **({"warnings": self.warnings} if self.warnings else {}),
        }
        self.show(
            counts,
            "{read:,} read: {tracked:,} tracked, {already:,} already tracked, "
            "{rejected:,} rejected{warned}; in {seconds:.0f} s.".format(
                **counts,
                warned=f", {self.warnings:,} with a warning" if self.warnings else "",
                seconds=time.monotonic() - began,
            ),
        )


def _peek_head(file: BinaryIO) -> tuple[BinaryIO, bytes]:
    """The file and its first bytes, unpacked; an archive that comes by a pipe is put on disk."""
    if file.seekable():
        head = file.read(len(ZIP))
        file.seek(0)
        return file, head if head in NEEDS_SEEKING else first_bytes(file)
    head = cast("BufferedReader", file).peek(LOOKED_AT)[:LOOKED_AT]
    if packer_of(head):
        return file, b""
    if not head.startswith(NEEDS_SEEKING):
        return file, head
    kept = cast("BinaryIO", TemporaryFile())  # noqa: SIM115
    copyfileobj(file, kept)
    kept.seek(0)
    return kept, head


def _write_note(sentence: str) -> None:
    tqdm.write(sentence, file=sys.stderr)


class FileProgress:
    """Lines read, their rate, and percent of the bytes: as a bar, or a sentence now and then."""

    def __init__(self, name: str, size: int | None, limits: Limits) -> None:
        self._name, self._size, self._lines, self._taken = name, size, 0, 0
        self._limits, self._read, self._warned = limits, Taken(), False
        self._began = self._shown_at = time.monotonic()
        self._bar = tqdm(
            total=size, unit="B", unit_scale=True, desc=name, disable=not sys.stderr.isatty()
        )

    def texts_of(self, file: BinaryIO) -> Iterator[Iterator[str]]:
        """The lines of each text in it: the file itself, or those of an archive with tweets."""
        limited: dict[str, Any] = {
            "passed": self._passed,
            "limits": self._limits,
            "taken": self._read,
        }
        if file.isatty():
            _write_note(AT_TERMINAL)
            yield self._counted(lines_of(file, **limited))
            return
        file, head = _peek_head(file)
        if file.seekable() and (kind := kind_of_sheet(file)):
            if kind == "workbook":
                _write_note(f"{self._name}: {ROUNDS}")
            self._size = self._bar.total = None
            sheet = cast("BinaryIO", SheetLines(file, kind))
            yield self._counted(lines_of(sheet, **limited))
            return
        if not head.startswith(ZIP):
            warning = check_first_bytes(head) if head else ""
            # The head of a pipe may end within a character.
            if warning and file.seekable():
                _write_note(f"{self._name}: {warning}")
            yield self._counted(lines_of(file, **limited))
            return
        # What is read of it is counted unpacked, and that total is unknown.
        self._size = self._bar.total = None
        archive = Archive(file)
        is_empty = True
        for member, _ in with_tweets(archive, limits=self._limits):
            _write_note(f"{self._name}: {member.name}")
            self._taken, is_empty = 0, False
            yield self._counted(archive.lines(member.name, **limited))
        left_out = archive.left_out_note()
        if is_empty:
            raise UnreadableError(f"{NO_TWEETS_IN_ARCHIVE} {left_out}".strip())
        if left_out:
            _write_note(f"{self._name}: {left_out}")

    def _counted(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self._lines += 1
            if self._lines % 1000 == 0:
                self._show()
            yield line

    def _passed(self, taken: int) -> None:
        if taken > self._taken:
            self._bar.update(taken - self._taken)
            self._taken = taken

    def _show(self) -> None:
        if not self._warned and (near := self._limits.near(self._read)):
            self._warned = True
            _write_note(f"{self._name}: {near}")
        rate = self._lines / max(time.monotonic() - self._began, 0.001)
        if not self._bar.disable:
            self._bar.set_postfix_str(f"{self._lines:,} lines, {rate:,.0f}/s", refresh=False)
        elif time.monotonic() - self._shown_at > PROGRESS_EVERY_SECONDS:
            self._shown_at = time.monotonic()
            part = f"{self._taken / self._size:.0%}, " if self._size else ""
            _write_note(f"{self._name}: {part}{self._lines:,} lines, {rate:,.0f} a second")

    def end(self) -> None:
        self._bar.close()
