"""`manage.py tag`: tags put on tweets and removed, and the list of them."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from django.core.management.base import CommandError

from trackers.history import by_command
from trackers.ingest.files.lines import READERS
from trackers.management.given_tweets import USAGE, GivenTweets
from trackers.management.pageless import PagelessCommand
from trackers.management.untracking import Ids, all_of, tracked, tweets
from trackers.schedule.acts import in_pieces
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.ending import COUNTED_MOST, on_tweets
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import TagName, made, named


class Command(PagelessCommand):
    help = "Tag tweets, remove a tag from them, or list the tags."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for action, help in (
            ("add", "tag these tweets"),
            ("remove", "remove the tag from these tweets"),
        ):
            act = actions.add_parser(action, help=help)
            act.add_argument("tag", help="its name; `add` creates it if there is none")
            act.add_argument("what", nargs="+", metavar="ID|URL|FILE|-")
            act.add_argument("--format", choices=["auto", *READERS], default="auto")
            act.add_argument("--column", help="for a CSV: the column with the tweets")
        actions.add_parser("list", help="list the tags, and how many tweets have each")
        for one in actions.choices.values():
            one.add_argument("--json", action="store_true", help="print JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{options['action']}")
        try:
            act(options)
        except TagName as wrong:
            raise CommandError(str(wrong), returncode=USAGE) from None

    def do_add(self, options: Mapping[str, Any]) -> None:
        ids = self.chosen(options)
        tag = made(options["tag"])
        done = sum(in_pieces(BulkAct.Act.TAG, ids, by_command(), tag=tag))
        self.tell(options, ids, done, f"Tagged {tweets(done)} “{tag}”.")

    def do_remove(self, options: Mapping[str, Any]) -> None:
        tag = named(options["tag"])
        if tag is None:
            raise CommandError(f"There is no tag {options['tag']!r}. `tag list` names them all.")
        ids = self.chosen(options)
        done = sum(in_pieces(BulkAct.Act.UNTAG, ids, by_command(), tag=tag))
        self.tell(options, ids, done, f"Removed the tag “{tag}” from {tweets(done)}.")

    def do_list(self, options: Mapping[str, Any]) -> None:
        for tag in Tag.objects.live().by_name().iterator(chunk_size=500):
            count = on_tweets(tag)
            if options["json"]:
                told = {"tag": tag.name, "tweets": min(count, COUNTED_MOST)}
                self.stdout.write(json.dumps({**told, "more": count > COUNTED_MOST}))
            else:
                more = "more than " if count > COUNTED_MOST else ""
                self.stdout.write(f"{tag.name}  {more}{tweets(min(count, COUNTED_MOST))}")

    def chosen(self, options: Mapping[str, Any]) -> Ids:
        given = GivenTweets(self.say, format=options["format"], column=options["column"])
        return tracked(all_of(given.ids(options["what"])))

    def say(self, sentence: str) -> None:
        self.stderr.write(sentence, lambda text: text)

    def tell(self, options: Mapping[str, Any], ids: Ids, done: int, sentence: str) -> None:
        told = {"tweets": len(ids), "changed": done}
        if not ids:
            sentence = "None of these tweets is tracked."
        self.stdout.write(json.dumps(told) if options["json"] else sentence)
        if not ids:
            sys.exit(1)
