"""Checkpoints of tweets that were measured before they were kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from trackers.management.pageless import ActionsCommand, AddAction
from trackers.tweets.checkpoints.fill import fill_checkpoints
from trackers.tweets.models import Tweet
from tweetwatch.amounts import amount


class Command(ActionsCommand):
    help = "What tweets had at eighteen ages, from 5 minutes to 30 days."

    def add_actions(self, add_action: AddAction) -> None:
        fill = add_action("fill", help="work them out from stored samples, where they are missing")
        fill.add_argument(
            "--from-first",
            action="store_true",
            help="do not go on where the last run was interrupted",
        )

    def do_fill(self, options: Mapping[str, Any]) -> None:
        tweets = added = 0
        total = Tweet.objects.filter(measurements__gt=0).count() if sys.stderr.isatty() else None
        with tqdm(total=total, unit=" tweets", disable=not sys.stderr.isatty()) as bar:
            for piece in fill_checkpoints(from_first=options["from_first"]):
                tweets += piece.tweets
                added += piece.checkpoints
                bar.update(piece.tweets)
        self.show(
            {"tweets": tweets, "added": added},
            f"{amount(tweets, 'tweet')} looked through, {amount(added, 'checkpoint')} added.",
        )
