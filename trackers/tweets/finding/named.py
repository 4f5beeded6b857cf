"""Tweets by what X recognised in their texts: a hashtag, a cashtag, a mention, a domain.

An index of these has no order, as that of words (`texts`): a rare name is found by it, and a
frequent one among the newest texts, a step at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from trackers.tweets.finding.direction import Direction, FoundIds
from trackers.tweets.finding.texts import MAX_RARE_MATCHES
from tweetwatch.database import cursor
from tweetwatch.time_limits import only_bitmaps

# What may be asked for, and the column of texts that has it.
NAMED_IN: Mapping[str, str] = {
    "hashtag": "hashtags", "domain": "domains", "mention": "mentions", "cashtag": "cashtags",
}  # fmt: skip
# The plain bitmap scan of the index: the first rows without fetching the others.
ALL_NAMING = """
    SELECT tweet_id FROM trackers_tweettext WHERE {column} @> ARRAY[%(name)s] LIMIT %(most)s
"""
# The inner LIMIT is a fence: no more texts are read, whatever the planner assumes about the name.
NEXT_TEXTS = """
    SELECT tweet_id, coalesce({column} @> ARRAY[%(name)s], false) FROM (
        SELECT tweet_id, {column} FROM trackers_tweettext
        WHERE tweet_id < %(beyond)s ORDER BY tweet_id DESC LIMIT %(looked)s
    ) looked ORDER BY tweet_id DESC
"""

# Names that begin so, among the newest texts alone, the most frequent first.
NAMES_LIKE = """
    SELECT name FROM (
        SELECT unnest({column}) AS name FROM (
            SELECT {column} FROM trackers_tweettext ORDER BY tweet_id DESC LIMIT %(looked)s
        ) looked
    ) named
    WHERE starts_with(name, %(beginning)s)
    GROUP BY name ORDER BY name <> %(beginning)s, count(*) DESC, name LIMIT %(most)s
"""
_NAMES_AMONG = 2000


def names_like(kind: str, beginning: str, *, most: int) -> list[str]:
    """Names that begin so, in lower case: this very one first if any text has it; the others as
    frequent as they are in the newest texts, for an index of all has no beginnings."""
    column = NAMED_IN[kind]
    params = {"beginning": beginning, "looked": _NAMES_AMONG, "most": most}
    with cursor() as db:
        names = [name for (name,) in db.execute(NAMES_LIKE.format(column=column), params)]
    if beginning in names:
        return names
    with only_bitmaps(), cursor() as db:
        params = {"name": beginning, "most": 1}
        is_known = db.execute(ALL_NAMING.format(column=column), params).fetchone() is not None
    return ([beginning, *names] if is_known else names)[:most]


def candidates_naming(kind: str, name: str) -> Callable[[Direction, int], FoundIds]:
    """Tweets whose text has this name, in lower case: a source for `Finder`."""
    column = NAMED_IN[kind]
    all_rare = cache(lambda: _all_rare(column, name))

    def candidates(direction: Direction, most: int) -> FoundIds:
        rare = all_rare()
        if rare is None:
            return _among_next_texts(column, name, direction, looked=most)
        ids = direction.in_order(rare)[: most + 1]
        return FoundIds(ids[:most], until=ids[most - 1] if len(ids) > most else None)

    return candidates


def _all_rare(column: str, name: str) -> list[int] | None:
    """All of them, unordered; None if they are too many."""
    params = {"name": name, "most": MAX_RARE_MATCHES + 1}
    with only_bitmaps(), cursor() as db:
        ids = [id for (id,) in db.execute(ALL_NAMING.format(column=column), params)]
    return ids if len(ids) <= MAX_RARE_MATCHES else None


def _among_next_texts(column: str, name: str, direction: Direction, *, looked: int) -> FoundIds:
    sql = NEXT_TEXTS.format(column=column)
    if direction.up:
        sql = sql.replace("< %(beyond)s", "> %(beyond)s").replace("id DESC", "id")
    with cursor() as db:
        params = {"name": name, "beyond": direction.beyond, "looked": looked}
        rows = db.execute(sql, params).fetchall()
    ids = [id for id, matches in rows if matches]
    return FoundIds(ids, until=rows[-1][0] if len(rows) == looked else None)
