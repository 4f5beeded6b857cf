"""What one line can give: a tweet, with a warning perhaps, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from trackers.tweets.snowflake import LARGEST_ID
from trackers.xapi.results import Post

_ID = re.compile(r"[0-9]{1,19}")
_ADDRESS = re.compile(
    r"(?:https?://)?(?:(?:www|mobile|m)\.)?(?:twitter|x)\.com/"
    r"(?:i/(?:web/)?|[A-Za-z0-9_]{1,20}/)status(?:es)?/(?P<id>[0-9]{1,19})(?:[/?#].*)?",
    re.IGNORECASE,
)
MAX_QUOTED_LENGTH = 80
# 2.1E+18 or 2100000000000000000.0, as spreadsheets write numbers of more than 15 digits.
_ROUNDED = re.compile(r"[0-9](?:[.,][0-9]+)?E\+?[0-9]{1,2}|[0-9]{16,19}\.0+", re.IGNORECASE)
ROUNDED_THERE = (
    "is an id that a spreadsheet has rounded, so its last digits are lost: export the table again "
    "with this column as text"
)


@dataclass(frozen=True, slots=True)
class FoundTweet:
    """A tweet to track."""

    id: int
    post: Post | None = None  # what came with the id, measured at `retrieved_at` if it says
    retrieved_at: datetime | None = None
    line: int = 0  # where it is
    text: str = ""  # as it stands there
    odd: str = ""  # what in it could not be used as it stands, for a warning


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
    # Gets a sentence about what was guessed, before the first tweet.
    on_note: Callable[[str], None] = _nobody_listens


# The lines of a file that are not empty, with their numbers.
Numbered = Iterator[tuple[int, str]]


class UnreadableError(Exception):
    """The file cannot be read as requested; the text says why, and what would work."""


class TooLargeError(UnreadableError):
    """It contains more than one import may; the text names the limit."""


def id_of(text: str) -> int | None:
    """The id in a tweet's id or address; None when there is none."""
    text = text.strip().strip('"')
    if _ID.fullmatch(text):
        id = int(text)
    elif match := _ADDRESS.fullmatch(text):
        id = int(match["id"])
    else:
        return None
    return id if 0 < id <= LARGEST_ID else None


def is_rounded(text: str) -> bool:
    return bool(_ROUNDED.fullmatch(text.strip().strip('"')))
