from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from trackers.ingest.files.lines import id_of
from trackers.tweets.export import export_samples, export_tweets

EXPORTS = {"samples": export_samples, "tweets": export_tweets}


class Command(BaseCommand):
    help = "Print samples or tweets as JSON lines or CSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=[*EXPORTS])
        parser.add_argument("--tweet", action="append", nargs="+", default=[], metavar="ID")
        parser.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        given = [text for some in options["tweet"] for text in some]
        ids = [id_of(text) for text in given]
        if None in ids:
            raise CommandError(
                f"{given[ids.index(None)]!r} is not the id of a tweet.", returncode=2
            )
        out = sys.stdout.buffer
        try:
            for block in EXPORTS[options["what"]](
                [id for id in ids if id], format=options["format"]
            ):
                out.write(block)
            out.flush()
        except BrokenPipeError:
            # The reader has closed the pipe; leave nothing to be flushed into it at exit.
            sys.stdout = open("/dev/null", "w")  # noqa: SIM115
            sys.exit(0)
