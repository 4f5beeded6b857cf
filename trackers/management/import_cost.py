"""What the tweets of a file cost, said before it is tracked; above the day's budget it is asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from django.core.management.base import CommandError

from trackers.ingest.files.archive import Archive, is_zip
from trackers.ingest.files.cost import LookupCost, cost_of_lookups
from trackers.ingest.files.cut_archive import with_tweets
from trackers.ingest.files.limits import NO_LIMITS, Taken
from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.opening import lines_of
from trackers.ingest.files.sheets import SheetLines, kind_of_sheet
from trackers.ingest.found_tweets import FoundTweet, Options, Rejected, UnreadableError
from trackers.management.untracking import confirm_or_stop
from tweetwatch.command_line import EXIT_USAGE

# Of a longer file the rest is estimated by its bytes.
_COUNTED = 100_000
_HOW = "--yes tracks them all the same, --paused takes ids and texts only."


def ask_about_cost(name: str, *, format: str, options: Options, yes: bool) -> LookupCost:
    """CommandError where the day's budget does not pay for all and nobody says yes."""
    cost = cost_of_lookups(_tweets_to_look_up(name, format=format, options=options))
    if cost.is_over and not yes:
        if not sys.stdin.isatty():
            raise CommandError(f"{name}: {cost} {_HOW}", returncode=EXIT_USAGE)
        confirm_or_stop(f"{name}: {cost} Track them?", yes=False)
    return cost


def within_budget(
    stream: Iterator[FoundTweet | Rejected], cost: LookupCost
) -> Iterator[FoundTweet | Rejected]:
    """Of input that comes but once: it ends where the day's budget does. CommandError."""
    count = 0
    for each in stream:
        count += isinstance(each, FoundTweet) and each.retrieved_at is None
        if cost.left is not None and count > cost.left:
            over = replace(cost, tweets=count)
            raise CommandError(
                f"{over} What was counted so far is tracked. {_HOW}", returncode=EXIT_USAGE
            )
        yield each


def _tweets_to_look_up(name: str, *, format: str, options: Options) -> int:
    """About how many of a file's tweets come without counts of a known time."""
    ids: set[int] = set()
    quiet = replace(options, on_note=lambda _: None)
    size, taken = Path(name).stat().st_size, 0

    def passed(bytes: int) -> None:
        nonlocal taken
        taken = max(taken, bytes)

    # What is wrong with it is said when it is tracked.
    with Path(name).open("rb") as file, suppress(UnreadableError):
        texts: Iterator[Iterator[str]]
        if kind := kind_of_sheet(file):
            sheet = cast("BinaryIO", SheetLines(file, kind))
            texts = iter([lines_of(sheet, passed=lambda _: None)])
        elif is_zip(file):
            archive = Archive(file)
            texts = (
                archive.lines(member.name, passed=passed, limits=NO_LIMITS, taken=Taken())
                for member, _ in with_tweets(archive, limits=NO_LIMITS)
            )
        else:
            texts = iter([lines_of(file, passed=passed)])
        for lines in texts:
            for each in read_tweets(lines, format=format, options=quiet):
                if isinstance(each, FoundTweet) and each.retrieved_at is None:
                    ids.add(each.id)
                if len(ids) == _COUNTED:
                    return round(_COUNTED * max(1.0, size / max(taken, 1)))
    return len(ids)
