from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize
from tqdm import tqdm

from trackers.ingest.files.lines import id_of
from trackers.listing.export import export_tweets
from trackers.management.pageless import PagelessCommand
from trackers.standbys.reading import read_for_export
from trackers.tweets.archive.read import ArchiveAway
from trackers.tweets.checkpoints.export import export_checkpoints
from trackers.tweets.export import export_samples
from trackers.tweets.models import Tweet

EXPORTS = {"samples": export_samples, "checkpoints": export_checkpoints, "tweets": export_tweets}
MAX_IDS_NAMED = 10


class Command(PagelessCommand):
    help = "Print samples, checkpoints or tweets as JSON lines or CSV."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=[*EXPORTS])
        parser.add_argument("--tweet", action="append", nargs="+", default=[], metavar="ID")
        parser.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        ids = [_tweet_id_argument(text) for some in options["tweet"] for text in some]
        self.look_for(ids)
        out = sys.stdout.buffer
        # Lines that go to the terminal are progress enough.
        is_shown = sys.stderr.isatty() and not sys.stdout.isatty()
        with tqdm(unit=" lines", unit_scale=True, disable=not is_shown) as bar:
            try:
                blocks = EXPORTS[options["what"]](ids, format=options["format"])
                for block in read_for_export(blocks):
                    out.write(block)
                    bar.update(block.count(b"\n"))
            except ArchiveAway as fault:
                raise CommandError(f"The export is not complete. {fault}") from None
        out.flush()

    def look_for(self, ids: Sequence[int]) -> None:
        """Say which of the tweets that were named are not tracked; CommandError if none is."""
        known = set(Tweet.objects.filter(pk__in=ids).values_list("pk", flat=True))
        if not (missing := [str(id) for id in dict.fromkeys(ids) if id not in known]):
            return
        more = f" and {len(missing) - MAX_IDS_NAMED:,} more" if len(missing) > MAX_IDS_NAMED else ""
        sentence = (
            f"Tweet{pluralize(len(missing))} {', '.join(missing[:MAX_IDS_NAMED])}{more} "
            f"{pluralize(len(missing), 'is,are')} not tracked."
        )
        if not known:
            raise CommandError(sentence)
        self.say(sentence)


def _tweet_id_argument(text: str) -> int:
    id = id_of(text)
    if id is None:
        raise CommandError(f"{text!r} is not a tweet id.", returncode=2)
    return id
