"""What one line can give: a tweet, with a warning perhaps, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from trackers.xapi.results import Post

MAX_QUOTED_LENGTH = 80


@dataclass(frozen=True, slots=True)
class FoundTweet:
    """A tweet to track."""

    id: int
    post: Post | None = None  # what came with the id, measured at `retrieved_at` if it says
    retrieved_at: datetime | None = None
    line: int = 0  # where it is
    text: str = ""  # as it stands there
    odd: str = ""  # what in it could not be used as it stands, for a warning
    is_certain: bool = False  # by its address: what has a number of its own may be something else


@dataclass(frozen=True, slots=True)
class Rejected:
    line: int
    text: str
    why: str


def _nobody_listens(sentence: str) -> None:
    """For callers that show nothing."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose."""

    column: str | None = None  # a table's, by name or number; None means guess it
    referenced: bool = False  # also the tweets that those in the file retweet, quote or answer
    # Where the tweets' counts are dated: the name of a column, or of a field of JSON.
    measured_at: str | None = None
    anyway: bool = False  # as it stands, whatever speaks against it
    # Gets a sentence about what was guessed, before the first tweet.
    on_note: Callable[[str], None] = _nobody_listens


# The lines of a file that are not empty, with their numbers.
Numbered = Iterator[tuple[int, str]]


class UnreadableError(Exception):
    """The file cannot be read as requested; the text says why, and what would work."""


class DoubtError(UnreadableError):
    """It can be read, but what it names are probably no tweets, or others; the text says why."""


class TooLargeError(UnreadableError):
    """It contains more than one import may; the text names the limit."""
