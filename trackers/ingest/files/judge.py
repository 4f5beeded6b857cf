"""Are these tweets? The sample of a file is judged as a whole, not each id. Pure.

ids of a sample ─> doubt: a sentence that says what speaks against them, or nothing
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

SAMPLE = 200
# Of a stream, of which the first is awaited.
JUDGED = 50
# Spreadsheets keep fifteen digits, and programs that read numbers as JavaScript does seventeen or
# so. Of ids as X makes them one in a hundred ends in two zeros.
_SPREADSHEET_DIGITS = 15
_SHORTEST = 17
_FEWEST = 2
_MOSTLY = 2 / 3
# A single id is only judged by more zeros than chance gives, and fewer than an invented one has.
_ZEROS_OF_ONE = range(3, 7)
# Ids that count up: rows, ranks, ages. Tweets had such ids in 2006 alone.
_SMALL = 10**7
_FEWEST_COUNTED, _FEWEST_LISTED = 3, 5
# Columns and fields of accounts that tweets do not have.
_OF_ACCOUNTS = re.compile(
    r"follower|following|friends_?count|tweet_count|statuses_count|listed_count|verified|^bio$"
    r"|^protected$|profile_image|^description$"
)
_OF_TWEETS = re.compile(
    r"text|tweet(?!_count)|post|content|message|retweet|like|reply|lang|url|link"
)

ROUNDED = (
    "Most of its long ids end in zeros, as after a spreadsheet or a program that keeps only "
    "fifteen to seventeen digits: {example}. The last digits are lost, so they name other tweets "
    "or none. Get the ids from the original file, or from the tweets' links"
)
COUNTED = (
    "The numbers in it are small and count up ({example} …), so they are probably the numbers of "
    "the rows, not of tweets"
)
ACCOUNTS = "It seems to be a table of accounts, not of tweets: it has the columns {example}"


def are_rounded(ids: Sequence[int]) -> bool:
    """Whether most of the long ids have lost their last digits."""
    texts = [str(id) for id in ids if id >= 10 ** (_SHORTEST - 1)]
    if len(texts) < _FEWEST:
        return any(
            not text[_SPREADSHEET_DIGITS:].strip("0")
            and len(text) - len(text.rstrip("0")) in _ZEROS_OF_ONE
            for text in texts
        )
    different = set(texts)
    ends = sum(text.endswith("00") for text in different)
    return len(different) >= _FEWEST and ends >= _MOSTLY * len(different)


def _count_up(ids: Sequence[int], *, fewest: int = _FEWEST_COUNTED) -> bool:
    """Whether they are small and always increase."""
    if len(ids) < fewest or max(ids) >= _SMALL:
        return False
    return all(before < after for before, after in pairwise(ids))


def doubt_about(ids: Sequence[int], *, is_list: bool = True) -> str:
    """Why ids are probably no tweets; empty where nothing speaks against them. `is_list`: they
    stand alone, not in objects of which more is known."""
    if are_rounded(ids):
        return ROUNDED.format(example=_first_rounded(ids))
    steps = {after - before for before, after in pairwise(ids)}
    if is_list and _count_up(ids, fewest=_FEWEST_LISTED) and steps == {1}:
        return COUNTED.format(example=", ".join(map(str, ids[:3])))
    return ""


def doubt_about_column(ids: Sequence[int], name: str, names: Sequence[str]) -> str:
    """The same of a table's column; `names` are those of all columns."""
    if are_rounded(ids):
        return ROUNDED.format(example=_first_rounded(ids))
    if name in _GENERIC and _count_up(ids):
        return COUNTED.format(example=", ".join(map(str, ids[:3])))
    of_accounts = [each for each in names if _OF_ACCOUNTS.search(each)]
    others = [each for each in names if each not in of_accounts and each != name]
    if name in _GENERIC and of_accounts and not any(map(_OF_TWEETS.search, others)):
        return ACCOUNTS.format(example=", ".join(of_accounts[:3]))
    return ""


# Names of columns that say nothing of tweets.
_GENERIC = {"id", "", "no", "nr", "number", "#", "index", "row", "key"}


def _first_rounded(ids: Sequence[int]) -> int:
    return next((id for id in ids if id % 100 == 0), ids[0])
