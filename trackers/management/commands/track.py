from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from trackers import tasks
from trackers.ingest.lines import READERS, Rejected, id_of

# A longer line is no line of ids; it is cut, and rejected, instead of filling the memory.
LONGEST_LINE = 4 * 1024 * 1024
TOLD_ONE_BY_ONE = 1000


class Command(BaseCommand):
    help = "Track tweets: ids, addresses, files of them (ids, CSV, JSONL), or - for standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="*", metavar="ID|URL|FILE|-")
        parser.add_argument("--format", choices=["auto", *READERS], default="auto")
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
        total = tasks.Tracked()
        self.rejected = self.told = 0
        try:
            if given:
                self.track(iter(given), "the command line", "ids", total)
            for name in files:
                self.track_file(name, options["format"], total)
        except KeyboardInterrupt:
            self.stderr.write("Interrupted: what was counted so far is tracked.")
            self.say(total, as_json=options["json"])
            sys.exit(130)
        self.say(total, as_json=options["json"])
        if not total.tracked and not total.already:
            sys.exit(1)

    def track_file(self, name: str, format: str, total: tasks.Tracked) -> None:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            size = None if name == "-" else Path(name).stat().st_size
            with tqdm(
                total=size, unit="B", unit_scale=True, desc=name, disable=not sys.stderr.isatty()
            ) as bar:
                came_from = "standard input" if name == "-" else f"the file {Path(name).name}"
                self.track(lines_of(file, bar), came_from, format, total)

    def track(
        self, lines: Iterator[str], came_from: str, format: str, total: tasks.Tracked
    ) -> None:
        for chunk in tasks.track_in_chunks(lines, came_from=came_from, format=format):
            total.read += chunk.read
            total.tracked += chunk.tracked
            total.already += chunk.already
            self.rejected += len(chunk.rejected)
            for one in chunk.rejected:
                self.tell(one)

    def tell(self, rejected: Rejected) -> None:
        self.told += 1
        if self.told <= TOLD_ONE_BY_ONE:
            tqdm.write(f"line {rejected.line}: {rejected.text!r} {rejected.why}", file=sys.stderr)
        elif self.told == TOLD_ONE_BY_ONE + 1:
            tqdm.write("More lines are rejected; they are only counted from here.", file=sys.stderr)

    def say(self, total: tasks.Tracked, *, as_json: bool) -> None:
        counts = {
            "read": total.read,
            "tracked": total.tracked,
            "already": total.already,
            "rejected": self.rejected,
        }
        if as_json:
            self.stdout.write(json.dumps(counts))
        else:
            self.stdout.write(
                "{read} read: {tracked} tracked, {already} already tracked, "
                "{rejected} rejected.".format(**counts)
            )


def lines_of(file: IO[bytes], bar: Any) -> Iterator[str]:
    """The lines of a file; what is no UTF-8 in them is shown as such, and rejected."""
    while line := file.readline(LONGEST_LINE):
        bar.update(len(line))
        yield line.decode("utf-8", "replace")
