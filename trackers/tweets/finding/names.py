"""Tweets by their authors: first the authors, by indexes on their names, then what they posted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trackers.tweets.finding.way import Look, Way
from trackers.tweets.finding.words import WORDS, Search
from tweetwatch.bounded import only_bitmaps
from tweetwatch.database import cursor

# The tweets of at most this many authors are merged.
AUTHORS_MOST = 20
# Too many names begin with a shorter prefix.
NAME_LEAST = 3
USERNAME = re.compile(r"\w{1,50}")
AFTER_ALL = "\U0010ffff"

# In the index's byte order an exact match comes before longer names that begin with it.
BY_USERNAME = """
    SELECT id, lower(username) FROM trackers_author
    WHERE lower(username) COLLATE "C" BETWEEN %(first)s AND %(last)s
    ORDER BY lower(username) COLLATE "C" LIMIT %(most)s
"""
BY_NAME = f"""
    SELECT id FROM trackers_author WHERE {WORDS.format("name")} @@ %(query)s::tsquery
    LIMIT %(most)s
"""
OF_AUTHORS = """
    SELECT t.id FROM unnest(%(authors)s::bigint[]) AS author(id) CROSS JOIN LATERAL (
        SELECT id FROM trackers_tweet WHERE author_id = author.id AND id < %(beyond)s
        ORDER BY id DESC LIMIT %(most)s
    ) t
    ORDER BY t.id DESC LIMIT %(most)s
"""
UP = {OF_AUTHORS: OF_AUTHORS.replace("< %(beyond)s", "> %(beyond)s").replace("id DESC", "id")}


@dataclass(frozen=True, slots=True)
class Authors:
    """The first AUTHORS_MOST authors, and whether there are more."""

    ids: list[int]
    more: bool = False


def called(name: str) -> Authors:
    """Authors with this user name, in any case; if none, those whose user name begins with it."""
    found = by_username(name.lower())
    exactly = [id for id, username in found if username == name.lower()]
    return first(exactly or [id for id, _ in found])


def is_known(name: str) -> bool:
    """Whether an author has exactly this user name, in any case."""
    return any(username == name.lower() for _, username in by_username(name.lower()))


def named(typed: str, search: Search) -> Authors:
    """Authors whose user name begins with what was typed, or whose name has its words."""
    ids = []
    if USERNAME.fullmatch(typed):
        ids += [id for id, _ in by_username(typed.lower())]
    if len(ids) <= AUTHORS_MOST and (len(typed) >= NAME_LEAST or not typed.isascii()):
        given = {"query": search.loose, "most": AUTHORS_MOST + 1}
        with only_bitmaps(), cursor() as db:
            ids += [row[0] for row in db.execute(BY_NAME, given) if row[0] not in ids]
    return first(ids)


def first(ids: list[int]) -> Authors:
    return Authors(ids[:AUTHORS_MOST], more=len(ids) > AUTHORS_MOST)


def by_username(beginning: str) -> list[tuple[int, str]]:
    given = {"first": beginning, "last": beginning + AFTER_ALL, "most": AUTHORS_MOST + 1}
    with cursor() as db:
        return [(id, username) for id, username in db.execute(BY_USERNAME, given) if username]


def of_authors(authors: Sequence[int], way: Way, *, most: int) -> Look:
    given = {"authors": list(authors), "beyond": way.beyond, "most": most}
    with cursor() as db:
        ids = [row[0] for row in db.execute(way.sql(OF_AUTHORS, UP), given)]
    return Look(ids, until=ids[-1] if len(ids) == most else None)
