"""`manage.py untrack`: removes tweets with their histories, after showing how many."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from trackers.ingest.files.lines import READERS
from trackers.ingest.sources.only_here import brought, only_here
from trackers.management.input_tweets import InputTweets
from trackers.management.pageless import PagelessCommand
from trackers.management.sources import find_sources as sources_of
from trackers.management.untracking import (
    Ids,
    Interrupted,
    confirm_or_stop,
    id_array,
    tracked_ids,
    tweet_count_text,
    untrack_ids,
)
from trackers.tweets.models import Author, Tweet
from tweetwatch.command_line import EXIT_USAGE
from tweetwatch.interrupts import INTERRUPTED


class Command(PagelessCommand):
    help = (
        "Untrack tweets and delete their whole history. Give ids, addresses, files of them, "
        "a source or an author. It first says how many tweets that is; with --dry-run it "
        "does nothing else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="*", metavar="ID|URL|FILE|-")
        parser.add_argument("--format", choices=["auto", *READERS], default="auto")
        parser.add_argument("--column", help="for a CSV: the column with the tweets")
        parser.add_argument("--source", metavar="ID", help="all tweets from this source")
        parser.add_argument(
            "--only-from-there",
            action="store_true",
            help="with --source: only tweets that came from no other source",
        )
        parser.add_argument("--author", metavar="@NAME|ID", help="all tweets of this author")
        parser.add_argument("--dry-run", action="store_true", help="only count them")
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        ids = self.chosen(options)
        counts = {"tweets": len(ids), "untracked": 0}
        if options["dry_run"]:
            self.show(counts, f"{tweet_count_text(len(ids))} would be untracked.")
        elif ids:
            confirm_or_stop(
                f"Untrack {tweet_count_text(len(ids))} and delete their whole history?",
                yes=options["yes"],
            )
            self.say(f"Untracking {tweet_count_text(len(ids))}.")
            try:
                counts["untracked"] = untrack_ids(ids)
            except Interrupted as interrupted:
                self.say(
                    f"Interrupted: {interrupted.done:,} of {tweet_count_text(len(ids))} have been "
                    "untracked."
                )
                sys.exit(INTERRUPTED)
            self.show(counts, f"Untracked {tweet_count_text(counts['untracked'])}.")
        else:
            self.show(counts, "None of these tweets is tracked.")
        if not ids:
            sys.exit(1)

    def chosen(self, options: dict[str, Any]) -> Ids:
        named = [bool(options[name]) for name in ("what", "source", "author")]
        if sum(named) != 1:
            raise CommandError("Give tweets, a --source or an --author.", returncode=EXIT_USAGE)
        if options["only_from_there"] and not options["source"]:
            raise CommandError("--only-from-there needs a --source.", returncode=EXIT_USAGE)
        if options["source"]:
            [source] = sources_of([options["source"]])
            rows = only_here(source) if options["only_from_there"] else brought(source)
            return id_array(rows.values_list("pk", flat=True).iterator(chunk_size=10_000))
        if options["author"]:
            rows = Tweet.objects.filter(author__in=_authors_of(options["author"]))
            return id_array(rows.values_list("pk", flat=True).iterator(chunk_size=10_000))
        input_tweets = InputTweets(self.say, format=options["format"], column=options["column"])
        return tracked_ids(id_array(input_tweets.ids(options["what"])))


def _authors_of(named: str) -> list[int]:
    """The author of that id, or those of exactly that name; CommandError where there is none."""
    name = named.strip().removeprefix("@").strip()
    if not name:
        # Authors whose name is not known yet have an empty one.
        raise CommandError(
            "--author: Enter a name, such as @nasa, or an id.", returncode=EXIT_USAGE
        )
    ids = [int(name)] if name.isascii() and name.isdigit() and len(name) < 20 else []
    if named.startswith("@") or not ids:
        ids = list(Author.objects.filter(username__iexact=name).values_list("pk", flat=True))
    if not ids:
        raise CommandError(f"There is no tracked tweet by @{name}.")
    return ids
