from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from trackers import history
from trackers.ingest.files.lines import READERS, read
from trackers.ingest.files.opening import lines_of
from trackers.ingest.files.track_lines import TrackedLines
from trackers.ingest.found import Found, Options, Rejected, UnreadableError, id_of
from trackers.ingest.track import track_stream
from trackers.tweets.models import Tweet

TOLD_ONE_BY_ONE = 1000
# Where nobody sees a bar, in a log.
TELL_EVERY_SECONDS = 10.0


class Command(BaseCommand):
    help = (
        "Track tweets: ids, addresses, files of them (ids, CSV, JSONL of v2 or v1.1, a tweet "
        "archive's tweets.js; packed with gzip or not), or - for standard input. A file that was "
        "interrupted is simply given again: what is tracked already stays as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="*", metavar="ID|URL|FILE|-")
        parser.add_argument("--format", choices=["auto", *READERS], default="auto")
        parser.add_argument(
            "--column", help="of a CSV: the name or the number of the column with the tweets"
        )
        parser.add_argument(
            "--referenced",
            action="store_true",
            help="also the tweets that those in the file retweet, quote or answer",
        )
        parser.add_argument("--json", action="store_true", help="print one object of counts")

    def handle(self, *args: Any, **options: Any) -> None:
        what: list[str] = options["what"] or ["-"]
        given = [one for one in what if id_of(one) is not None]
        files = [one for one in what if id_of(one) is None]
        for name in files:
            if name != "-" and not Path(name).is_file():
                raise CommandError(
                    f"{name} is neither an id, the address of a tweet, nor a file.", returncode=2
                )
        self.total, self.rejected = TrackedLines(), 0
        began = time.monotonic()
        try:
            self.track(read(given, format="ids"), "the command line")
            for name in files:
                self.track_file(name, options)
        except UnreadableError as error:
            raise CommandError(f"{name}: {error}", returncode=2) from error
        except KeyboardInterrupt:
            self.stderr.write("Interrupted: what was counted so far is tracked.")
            self.say(began, as_json=options["json"])
            sys.exit(130)
        self.say(began, as_json=options["json"])
        if not self.total.tracked and not self.total.already:
            sys.exit(1)

    def track_file(self, name: str, options: dict[str, Any]) -> None:
        came_from = "standard input" if name == "-" else f"the file {Path(name).name}"
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            progress = Progress(name, None if name == "-" else Path(name).stat().st_size)
            chosen = Options(
                column=options["column"],
                referenced=options["referenced"],
                tell=lambda sentence: note(f"{name}: {sentence}"),
            )
            try:
                lines = progress.lines_of(file)
                self.track(read(lines, format=options["format"], options=chosen), came_from)
            finally:
                progress.end()

    def track(self, stream: Iterable[Found | Rejected], came_from: str) -> None:
        for chunk in track_stream(stream, came_from=came_from):
            self.total.read += chunk.read
            self.total.tracked += chunk.tracked
            self.total.already += chunk.already
            for one in chunk.rejected:
                self.rejected += 1
                self.tell(one)

    def tell(self, rejected: Rejected) -> None:
        if self.rejected <= TOLD_ONE_BY_ONE:
            note(f"line {rejected.line}: {rejected.text!r} {rejected.why}")
        elif self.rejected == TOLD_ONE_BY_ONE + 1:
            note("More lines are rejected; they are only counted from here.")

    def say(self, began: float, *, as_json: bool) -> None:
        if self.total.tracked:
            history.record_command(
                Tweet, "Tracked.", count=self.total.tracked, flag=history.ADDITION
            )
        counts = {
            "read": self.total.read,
            "tracked": self.total.tracked,
            "already": self.total.already,
            "rejected": self.rejected,
        }
        if as_json:
            self.stdout.write(json.dumps(counts))
            return
        self.stdout.write(
            "{read:,} read: {tracked:,} tracked, {already:,} already tracked, "
            "{rejected:,} rejected; in {seconds:.0f} s.".format(
                **counts, seconds=time.monotonic() - began
            )
        )


def note(sentence: str) -> None:
    tqdm.write(sentence, file=sys.stderr)


class Progress:
    """Lines read, their rate, and percent of the bytes: a bar, or a sentence now and then."""

    def __init__(self, name: str, size: int | None) -> None:
        self._name, self._size, self._lines, self._taken = name, size, 0, 0
        self._began = self._told = time.monotonic()
        self._bar = tqdm(
            total=size, unit="B", unit_scale=True, desc=name, disable=not sys.stderr.isatty()
        )

    def lines_of(self, file: BinaryIO) -> Iterator[str]:
        for line in lines_of(file, passed=self._passed):
            self._lines += 1
            if self._lines % 1000 == 0:
                self._tell()
            yield line

    def _passed(self, taken: int) -> None:
        if taken > self._taken:
            self._bar.update(taken - self._taken)
            self._taken = taken

    def _tell(self) -> None:
        rate = self._lines / max(time.monotonic() - self._began, 0.001)
        if not self._bar.disable:
            self._bar.set_postfix_str(f"{self._lines:,} lines, {rate:,.0f}/s", refresh=False)
        elif time.monotonic() - self._told > TELL_EVERY_SECONDS:
            self._told = time.monotonic()
            part = f"{self._taken / self._size:.0%}, " if self._size else ""
            note(f"{self._name}: {part}{self._lines:,} lines, {rate:,.0f} a second")

    def end(self) -> None:
        self._bar.close()
