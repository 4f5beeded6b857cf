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
from trackers.management.input_tweets import InputTweets
from trackers.management.pageless import PagelessCommand
from trackers.management.untracking import Ids, id_array, tracked_ids, tweet_count_text
from trackers.schedule.acts import act_in_pieces
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.ending import MAX_COUNTED, count_tagged
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName, find_tag, get_or_create_tag
from tweetwatch.command_line import EXIT_USAGE


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
        for subparser in actions.choices.values():
            subparser.add_argument("--json", action="store_true", help="print JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{options['action']}")
        try:
            act(options)
        except InvalidTagName as wrong:
            raise CommandError(str(wrong), returncode=EXIT_USAGE) from None

    def do_add(self, options: Mapping[str, Any]) -> None:
        ids = self.chosen(options)
        tag = get_or_create_tag(options["tag"])
        done = sum(act_in_pieces(BulkAct.Act.TAG, ids, by_command(), tag=tag))
        self.report(options, ids, done, f"Tagged {tweet_count_text(done)} “{tag}”.")

    def do_remove(self, options: Mapping[str, Any]) -> None:
        tag = find_tag(options["tag"])
        if tag is None:
            raise CommandError(f"There is no tag {options['tag']!r}. `tag list` names them all.")
        ids = self.chosen(options)
        done = sum(act_in_pieces(BulkAct.Act.UNTAG, ids, by_command(), tag=tag))
        self.report(options, ids, done, f"Removed the tag “{tag}” from {tweet_count_text(done)}.")

    def do_list(self, options: Mapping[str, Any]) -> None:
        for tag in Tag.objects.live().by_name().iterator(chunk_size=500):
            count = count_tagged(tag)
            if options["json"]:
                result = {"tag": tag.name, "tweets": min(count, MAX_COUNTED)}
                self.stdout.write(json.dumps({**result, "more": count > MAX_COUNTED}))
            else:
                more = "more than " if count > MAX_COUNTED else ""
                self.stdout.write(f"{tag.name}  {more}{tweet_count_text(min(count, MAX_COUNTED))}")

    def chosen(self, options: Mapping[str, Any]) -> Ids:
        input_tweets = InputTweets(self.say, format=options["format"], column=options["column"])
        return tracked_ids(id_array(input_tweets.ids(options["what"])))

    def say(self, sentence: str) -> None:
        self.stderr.write(sentence, lambda text: text)

    def report(self, options: Mapping[str, Any], ids: Ids, done: int, sentence: str) -> None:
        result = {"tweets": len(ids), "changed": done}
        if not ids:
            sentence = "None of these tweets is tracked."
        self.stdout.write(json.dumps(result) if options["json"] else sentence)
        if not ids:
            sys.exit(1)
