"""Tweets by their authors: first the authors, by indexes on their names, then what they posted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.finding.words import TEXT_WORDS, Search
from tweetwatch.database import cursor
from tweetwatch.time_limits import only_bitmaps

# The tweets of at most this many authors are merged.
MAX_AUTHORS = 20
# Too many names begin with a shorter prefix.
_MIN_NAME_LENGTH = 3
_USERNAME = re.compile(r"\w{1,50}")
_LAST_CHARACTER = "\U0010ffff"

# In the index's byte order an exact match comes before longer names that begin with it.
_BY_USERNAME = """
    SELECT id, lower(username) FROM trackers_author
    WHERE lower(username) COLLATE "C" BETWEEN %(first)s AND %(last)s
    ORDER BY lower(username) COLLATE "C" LIMIT %(most)s
"""
_BY_NAME = f"""
    SELECT id FROM trackers_author WHERE {TEXT_WORDS.format("name")} @@ %(query)s::tsquery
    LIMIT %(most)s
"""
_OF_AUTHORS = """
    SELECT t.id FROM unnest(%(authors)s::bigint[]) AS author(id) CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet WHERE author_id = author.id AND id < %(beyond)s
        ORDER BY id DESC LIMIT %(most)s
    ) t
    ORDER BY t.id DESC LIMIT %(most)s
"""
_UP = {_OF_AUTHORS: _OF_AUTHORS.replace("< %(beyond)s", "> %(beyond)s").replace("id DESC", "id")}


@dataclass(frozen=True, slots=True)
class Authors:
    """The first AUTHORS_MOST authors, and whether there are more."""

    ids: list[int]
    more: bool = False


def authors_called(name: str) -> Authors:
    """Authors with this user name, in any case; if none, those whose user name begins with it."""
    rows = _by_username(name.lower())
    exactly = [id for id, username in rows if username == name.lower()]
    return _first_authors(exactly or [id for id, _ in rows])


def is_known(name: str) -> bool:
    """Whether an author has exactly this user name, in any case."""
    return any(username == name.lower() for _, username in _by_username(name.lower()))


def authors_matching(typed: str, search: Search) -> Authors:
    """Authors whose user name begins with what was typed, or whose name has its words."""
    ids = []
    if _USERNAME.fullmatch(typed):
        ids += [id for id, _ in _by_username(typed.lower())]
    if len(ids) <= MAX_AUTHORS and (len(typed) >= _MIN_NAME_LENGTH or not typed.isascii()):
        params = {"query": search.loose, "most": MAX_AUTHORS + 1}
        with only_bitmaps(), cursor() as db:
            ids += [row[0] for row in db.execute(_BY_NAME, params) if row[0] not in ids]
    return _first_authors(ids)


def _first_authors(ids: list[int]) -> Authors:
    return Authors(ids[:MAX_AUTHORS], more=len(ids) > MAX_AUTHORS)


def _by_username(beginning: str) -> list[tuple[int, str]]:
    params = {"first": beginning, "last": beginning + _LAST_CHARACTER, "most": MAX_AUTHORS + 1}
    with cursor() as db:
        return [(id, username) for id, username in db.execute(_BY_USERNAME, params) if username]


def of_authors(authors: Sequence[int], direction: Direction, *, most: int) -> FoundIds:
    params = {"authors": list(authors), "beyond": direction.beyond, "most": most}
    with cursor() as db:
        ids = [row[0] for row in db.execute(direction.sql(_OF_AUTHORS, _UP), params)]
    return FoundIds(ids, until=ids[-1] if len(ids) == most else None)
