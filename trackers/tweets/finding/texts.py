"""Tweets by their words, newest first, in a time that does not grow with their number.

A frequent word is found among the newest texts; a rare one is in few texts at all. So a search
reads a few thousand texts in the order of ids, and only then queries the index for all that match,
up to a number that is quickly sorted. An index of words has no order: the newest texts with a
frequent word can only be found by reading all that have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from trackers.tweets.finding.way import Look, Way
from trackers.tweets.finding.words import WORDS, Search
from tweetwatch.bounded import only_bitmaps
from tweetwatch.database import cursor

# Words with up to this many matches are rare: all are read and sorted at once.
RARE = 3000
# For a phrase the text of each match must be parsed.
RARE_PHRASE = 1000

# The inner LIMIT is a fence: no more texts are read, whatever the planner assumes about the words.
TEXTS = f"""
    SELECT tweet_id FROM (
        SELECT tweet_id, text FROM trackers_tweettext
        WHERE tweet_id < %(beyond)s ORDER BY tweet_id DESC LIMIT %(looked)s
    ) looked
    WHERE text ILIKE ALL (%(patterns)s::text[]) AND {WORDS.format("text")} @@ %(exact)s::tsquery
    ORDER BY tweet_id DESC LIMIT %(most)s
"""
LOOKED_UNTIL = """
    SELECT tweet_id FROM trackers_tweettext
    WHERE tweet_id < %(beyond)s ORDER BY tweet_id DESC LIMIT 1 OFFSET %(looked)s - 1
"""

# Only among given ids.
AMONG = f"""
    SELECT tweet_id FROM trackers_tweettext
    WHERE tweet_id = ANY(%(ids)s::bigint[]) AND text ILIKE ALL (%(patterns)s::text[])
      AND {WORDS.format("text")} @@ %(exact)s::tsquery
"""

# Unordered: a bitmap scan of the index on words returns the first rows without fetching the others.
# MATERIALIZED: a phrase is compared only with these rows, not with all that have its words.
ALL_RARE = f"""
    WITH candidate AS MATERIALIZED (
        SELECT tweet_id, text FROM trackers_tweettext
        WHERE {WORDS.format("text")} @@ %(loose)s::tsquery LIMIT %(rare)s + 1
    )
    SELECT (SELECT count(*) FROM candidate),
           ARRAY (SELECT tweet_id FROM candidate
                  WHERE %(plain)s OR text ILIKE ALL (%(patterns)s::text[])
                                     AND {WORDS.format("text")} @@ %(exact)s::tsquery)
"""
TEXTS_AT_ALL = "SELECT reltuples FROM pg_class WHERE oid = 'trackers_tweettext'::regclass"

UP = {
    statement: statement.replace("< %(beyond)s", "> %(beyond)s").replace("id DESC", "id")
    for statement in (TEXTS, LOOKED_UNTIL)
}


def in_texts(search: Search, way: Way, *, looked: int, most: int) -> Look:
    """At most `most` tweets whose text matches, among the next `looked` texts."""
    given = {"beyond": way.beyond, "looked": looked}
    with cursor() as db:
        words = {"patterns": list(search.patterns), "exact": search.exact, "most": most}
        ids = [row[0] for row in db.execute(way.sql(TEXTS, UP), given | words)]
        if len(ids) == most:
            return Look(ids, until=ids[-1])
        last = db.execute(way.sql(LOOKED_UNTIL, UP), given).fetchone()
    return Look(ids, until=last[0] if last else None)


def among(ids: Sequence[int], search: Search) -> list[int]:
    """The ids whose text matches, in the given order."""
    given = {"ids": list(ids), "patterns": list(search.patterns), "exact": search.exact}
    with cursor() as db:
        matching = {row[0] for row in db.execute(AMONG, given)}
    return [id for id in ids if id in matching]


def all_of(search: Search) -> list[int] | None:
    """Every tweet whose text matches, unordered; None when too many have the words."""
    given = {"exact": search.exact, "loose": search.loose, "patterns": list(search.patterns)}
    rare = RARE if search.is_plain else RARE_PHRASE
    with only_bitmaps(), cursor() as db:
        row = db.execute(ALL_RARE, given | {"plain": search.is_plain, "rare": rare}).fetchone()
    assert row is not None
    candidates, ids = row
    return ids if candidates <= rare else None


def may_be_rare(found: int, *, looked: int) -> bool:
    """Whether `found` matches in `looked` texts suggest no more than RARE in all texts."""
    return found * at_all() <= RARE * looked


def at_all() -> float:
    """About how many texts there are; 0 if that is not known yet."""
    with cursor() as db:
        row = db.execute(TEXTS_AT_ALL).fetchone()
    assert row is not None
    return max(row[0], 0.0)
