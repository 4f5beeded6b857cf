"""Tweets by their words, newest first, in a time that does not grow with their number.

A frequent word is found among the newest texts; a rare one is in few texts at all. So a search
reads a few thousand texts in the order of ids, and only then queries the index for all that match,
up to a number that is quickly sorted. An index of words has no order: the newest texts with a
frequent word can only be found by reading all that have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.finding.words import TEXT_WORDS, Search
from tweetwatch.database import cursor
from tweetwatch.time_limits import only_bitmaps

# Words with up to this many matches are rare: all are read and sorted at once.
MAX_RARE_MATCHES = 3000
# For a phrase the text of each match must be parsed.
MAX_RARE_PHRASE_MATCHES = 1000

# The inner LIMIT is a fence: no more texts are read, whatever the planner assumes about the words.
TEXTS = f"""
    SELECT tweet_id FROM (
        SELECT tweet_id, text FROM trackers_tweettext
        WHERE tweet_id < %(beyond)s ORDER BY tweet_id DESC LIMIT %(looked)s
    ) looked
    WHERE text ILIKE ALL (%(patterns)s::text[])
      AND {TEXT_WORDS.format("text")} @@ %(exact)s::tsquery
    ORDER BY tweet_id DESC LIMIT %(most)s
"""
_LOOKED_UNTIL = """
    SELECT tweet_id FROM trackers_tweettext
    WHERE tweet_id < %(beyond)s ORDER BY tweet_id DESC LIMIT 1 OFFSET %(looked)s - 1
"""

# Only among given ids.
_MATCHING_TEXTS = f"""
    SELECT tweet_id FROM trackers_tweettext
    WHERE tweet_id = ANY(%(ids)s::bigint[]) AND text ILIKE ALL (%(patterns)s::text[])
      AND {TEXT_WORDS.format("text")} @@ %(exact)s::tsquery
"""

# Unordered: a bitmap scan of the index on words returns the first rows without fetching the others.
# MATERIALIZED: a phrase is compared only with these rows, not with all that have its words.
ALL_RARE = f"""
    WITH candidate AS MATERIALIZED (
        SELECT tweet_id, text FROM trackers_tweettext
        WHERE {TEXT_WORDS.format("text")} @@ %(loose)s::tsquery LIMIT %(rare)s + 1
    )
    SELECT (SELECT count(*) FROM candidate),
           ARRAY (SELECT tweet_id FROM candidate
                  WHERE %(plain)s OR text ILIKE ALL (%(patterns)s::text[])
                                     AND {TEXT_WORDS.format("text")} @@ %(exact)s::tsquery)
"""
_ESTIMATE_TEXTS = "SELECT reltuples FROM pg_class WHERE oid = 'trackers_tweettext'::regclass"

_UP = {
    statement: statement.replace("< %(beyond)s", "> %(beyond)s").replace("id DESC", "id")
    for statement in (TEXTS, _LOOKED_UNTIL)
}


def search_next_texts(search: Search, direction: Direction, *, looked: int, most: int) -> FoundIds:
    """At most `most` tweets whose text matches, among the next `looked` texts."""
    params = {"beyond": direction.beyond, "looked": looked}
    with cursor() as db:
        words = {"patterns": list(search.patterns), "exact": search.exact, "most": most}
        ids = [row[0] for row in db.execute(direction.sql(TEXTS, _UP), params | words)]
        if len(ids) == most:
            return FoundIds(ids, until=ids[-1])
        last = db.execute(direction.sql(_LOOKED_UNTIL, _UP), params).fetchone()
    return FoundIds(ids, until=last[0] if last else None)


def matching_ids(ids: Sequence[int], search: Search) -> list[int]:
    """The ids whose text matches, in the given order."""
    params = {"ids": list(ids), "patterns": list(search.patterns), "exact": search.exact}
    with cursor() as db:
        matching = {row[0] for row in db.execute(_MATCHING_TEXTS, params)}
    return [id for id in ids if id in matching]


def all_matches(search: Search) -> list[int] | None:
    """Every tweet whose text matches, unordered; None when too many have the words."""
    params = {"exact": search.exact, "loose": search.loose, "patterns": list(search.patterns)}
    rare = MAX_RARE_MATCHES if search.is_plain else MAX_RARE_PHRASE_MATCHES
    with only_bitmaps(), cursor() as db:
        row = db.execute(ALL_RARE, params | {"plain": search.is_plain, "rare": rare}).fetchone()
    assert row is not None
    candidates, ids = row
    return ids if candidates <= rare else None


def may_be_rare(matches: int, *, looked: int) -> bool:
    """Whether `found` matches in `looked` texts suggest no more than RARE in all texts."""
    return matches * estimate_texts() <= MAX_RARE_MATCHES * looked


def estimate_texts() -> float:
    """About how many texts there are; 0 if that is not known yet."""
    with cursor() as db:
        row = db.execute(_ESTIMATE_TEXTS).fetchone()
    assert row is not None
    return max(row[0], 0.0)
