"""Authors to request from X, and what is stored from its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trackers.tweets.presence import counting_presences
from trackers.xapi.results import Account
from tweetwatch.database import cursor

# New authors, and those with a tweet that was found hidden after they were last requested.
_AUTHORS_TO_ASK = """
    (SELECT id FROM trackers_author WHERE checked_at IS NULL ORDER BY id DESC LIMIT %(limit)s)
    UNION
    (SELECT a.id FROM trackers_tweet t JOIN trackers_author a ON a.id = t.author_id
     WHERE t.missing_reason = 'unauthorized' AND a.checked_at < t.missing_since
     LIMIT %(limit)s)
    LIMIT %(limit)s
"""

# Locks: the authors, in the order of ids, as everywhere.
_STORE_NAMES = """
    WITH told AS MATERIALIZED (
        SELECT * FROM unnest(%(ids)s::bigint[], %(usernames)s::text[], %(names)s::text[],
                             %(protected)s::bool[]) AS told(id, username, name, protected)
    ),
    held AS MATERIALIZED (
        SELECT id FROM trackers_author WHERE id = ANY(%(asked)s::bigint[])
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE trackers_author a
    SET checked_at = now(), username = coalesce(told.username, a.username),
        name = coalesce(told.name, a.name), protected = coalesce(told.protected, a.protected)
    FROM held LEFT JOIN told ON told.id = held.id
    WHERE a.id = ANY(ARRAY[held.id])
"""

# The tweets endpoint only says "not authorized"; the users endpoint says why.
# Locks: the tweets, in the order of ids, as everywhere.
_EXPLAINED = counting_presences("SELECT id, 'unauthorized' AS before, reason AS after FROM held")
_WHY_HIDDEN = f"""
    WITH held AS MATERIALIZED (
        SELECT t.id, CASE WHEN a.id = ANY(%(suspended)s::bigint[])
                          THEN 'suspended' ELSE 'protected' END AS reason
        FROM trackers_author a JOIN trackers_tweet t ON t.author_id = a.id
        WHERE a.id = ANY(%(asked)s::bigint[]) AND t.missing_reason = 'unauthorized'
          AND (a.protected OR a.id = ANY(%(suspended)s::bigint[]))
        ORDER BY t.id FOR NO KEY UPDATE OF t
    ),
    counted AS ({_EXPLAINED})
    UPDATE trackers_tweet t SET missing_reason = held.reason
    FROM held WHERE t.id = ANY(ARRAY[held.id])
"""


def authors_to_ask(*, limit: int) -> list[int]:
    """Ids of authors to request from X."""
    with cursor() as db:
        return [row[0] for row in db.execute(_AUTHORS_TO_ASK, {"limit": limit})]


def store_names(
    asked: Sequence[int], accounts: Iterable[Account], *, suspended: Sequence[int]
) -> None:
    """Store X's answer about the authors in `asked`; those that it left out count as checked."""
    accounts = list(accounts)
    with cursor() as db:
        db.execute(
            _STORE_NAMES,
            {
                "asked": list(asked),
                "ids": [account.id for account in accounts],
                "usernames": [account.username for account in accounts],
                "names": [account.name for account in accounts],
                "protected": [account.protected for account in accounts],
            },
        )
        db.execute(_WHY_HIDDEN, {"asked": list(asked), "suspended": list(suspended)})
