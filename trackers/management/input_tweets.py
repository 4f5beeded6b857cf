"""Tweets that a command is given: ids, addresses, and files of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from django.core.management.base import CommandError

from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.opening import lines_of
from trackers.ingest.found_tweets import FoundTweet, Options, Rejected, UnreadableError
from trackers.ingest.tweet_ids import id_of
from trackers.management.input_files import inspect_input, open_input, require_input
from tweetwatch.command_line import EXIT_USAGE

_MAX_LINES_SHOWN = 1000


class InputTweets:
    """`say` is called with what is wrong with single lines."""

    def __init__(self, say: Callable[[str], None], *, format: str, column: str | None) -> None:
        self.say, self.format, self.column = say, format, column
        self.rejected = 0

    def ids(self, names: Sequence[str]) -> Iterator[int]:
        """CommandError for what cannot be read."""
        for name in names:
            if id := id_of(name):
                yield id
                continue
            require_input(name)
            try:
                yield from self.in_file(name)
            except UnreadableError as error:
                raise CommandError(f"{name}: {error}", returncode=EXIT_USAGE) from None
            except OSError as error:
                raise CommandError(
                    f"{name} cannot be read: {error.strerror or error}.", returncode=EXIT_USAGE
                ) from None

    def in_file(self, name: str) -> Iterator[int]:
        # What is not tracked is not harmed, so nothing has to be doubted.
        chosen = Options(
            column=self.column,
            anyway=True,
            on_note=lambda sentence: self.say(f"{name}: {sentence}"),
        )
        with open_input(name) as file:
            if warning := inspect_input(name, file):
                self.say(warning)
            lines = lines_of(file, passed=lambda _: None)
            for item in read_tweets(lines, format=self.format, options=chosen):
                match item:
                    case FoundTweet():
                        yield item.id
                    case Rejected():
                        self.reject(name, item)

    def reject(self, name: str, rejected: Rejected) -> None:
        self.rejected += 1
        if self.rejected <= _MAX_LINES_SHOWN:
            self.say(f"{name}, line {rejected.line}: {rejected.text!r} {rejected.why}")
        elif self.rejected == _MAX_LINES_SHOWN + 1:
            self.say("Further rejected lines are not shown.")
