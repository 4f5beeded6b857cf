"""`manage.py tag`: tags put on tweets and removed, and the list of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from trackers.history import by_command
from trackers.ingest.files.lines import READERS
from trackers.management.input_tweets import InputTweets
from trackers.management.pageless import ActionsCommand, AddAction
from trackers.management.untracking import Ids, id_array, tracked_ids, tweet_count_text
from trackers.schedule.acts import act_in_pieces
from trackers.schedule.models import BulkAct
from trackers.tweets.tags.acts import MAX_COUNTED, count_tagged
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName, find_tag, get_or_create_tag
from tweetwatch.command_line import EXIT_USAGE


class Command(ActionsCommand):
    help = "Tag tweets, remove a tag from them, or list the tags."

    def add_actions(self, add_action: AddAction) -> None:
        for action, help in (
            ("add", "tag these tweets"),
            ("remove", "remove the tag from these tweets"),
        ):
            act = add_action(action, help=help)
            act.add_argument("tag", help="its name; `add` creates it if there is none")
            act.add_argument("what", nargs="+", metavar="ID|URL|FILE|-")
            act.add_argument("--format", choices=["auto", *READERS], default="auto")
            act.add_argument("--column", help="for a CSV: the column with the tweets")
        add_action("list", help="list the tags, and how many tweets have each")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except InvalidTagName as wrong:
            raise CommandError(str(wrong), returncode=EXIT_USAGE) from None

    def do_add(self, options: Mapping[str, Any]) -> None:
        ids = self.chosen(options)
        tag = get_or_create_tag(options["tag"])
        done = sum(act_in_pieces(BulkAct.Act.TAG, ids, by_command(), tag=tag))
        self.show_changed(ids, done, f"Tagged {tweet_count_text(done)} “{tag}”.")

    def do_remove(self, options: Mapping[str, Any]) -> None:
        tag = find_tag(options["tag"])
        if tag is None:
            raise CommandError(f"There is no tag {options['tag']!r}. `tag list` names them all.")
        ids = self.chosen(options)
        done = sum(act_in_pieces(BulkAct.Act.UNTAG, ids, by_command(), tag=tag))
        self.show_changed(ids, done, f"Removed the tag “{tag}” from {tweet_count_text(done)}.")

    def do_list(self, options: Mapping[str, Any]) -> None:
        for tag in Tag.objects.live().by_name().iterator(chunk_size=500):
            count = count_tagged(tag)
            counted, is_more = min(count, MAX_COUNTED), count > MAX_COUNTED
            more = "more than " if is_more else ""
            self.show(
                {"tag": tag.name, "tweets": counted, "more": is_more},
                f"{tag.name}  {more}{tweet_count_text(counted)}",
            )

    def chosen(self, options: Mapping[str, Any]) -> Ids:
        input_tweets = InputTweets(self.say, format=options["format"], column=options["column"])
        return tracked_ids(id_array(input_tweets.ids(options["what"])))

    def show_changed(self, ids: Ids, done: int, sentence: str) -> None:
        result = {"tweets": len(ids), "changed": done}
        self.show(result, sentence if ids else "None of these tweets is tracked.")
        if not ids:
            sys.exit(1)
