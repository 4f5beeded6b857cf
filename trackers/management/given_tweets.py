"""Tweets that a command is given: ids, addresses, and files of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from django.core.management.base import CommandError

from trackers.ingest.files.lines import read_tweets
from trackers.ingest.files.opening import lines_of
from trackers.ingest.found import FoundTweet, Options, Rejected, UnreadableError, id_of
from trackers.management.given_files import demand, look, opened

USAGE = 2
TOLD_ONE_BY_ONE = 1000


class GivenTweets:
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
            demand(name)
            try:
                yield from self.in_file(name)
            except UnreadableError as error:
                raise CommandError(f"{name}: {error}", returncode=USAGE) from None
            except OSError as error:
                raise CommandError(
                    f"{name} cannot be read: {error.strerror or error}.", returncode=USAGE
                ) from None

    def in_file(self, name: str) -> Iterator[int]:
        chosen = Options(column=self.column, tell=lambda told: self.say(f"{name}: {told}"))
        with opened(name) as file:
            if told := look(name, file):
                self.say(told)
            lines = lines_of(file, passed=lambda _: None)
            for one in read_tweets(lines, format=self.format, options=chosen):
                match one:
                    case FoundTweet():
                        yield one.id
                    case Rejected():
                        self.reject(name, one)

    def reject(self, name: str, one: Rejected) -> None:
        self.rejected += 1
        if self.rejected <= TOLD_ONE_BY_ONE:
            self.say(f"{name}, line {one.line}: {one.text!r} {one.why}")
        elif self.rejected == TOLD_ONE_BY_ONE + 1:
            self.say("Further rejected lines are not shown.")
