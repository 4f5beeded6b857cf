"""What is left: how many tweets X shows, and how many it does not, by year and reason.

a statement that changes what X last said ─> rows of changes (+1, -1) ─> summed up every minute
An audit compares the sums with the tweets every hour. Pages add up what is there, some dozens of
rows; nobody waits for another one, since rows are only added.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import models

from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# By year, then by presence.
Presences = Mapping[int, Mapping[str, int]]


class Presence(models.TextChoices):
    """What X last said of a tweet; in SQL `trackers_presence_v1`."""

    SHOWN = "shown", "shown by X"
    NOT_FOUND = "not_found", "deleted or not found"
    PROTECTED = "protected", "of a protected account"
    SUSPENDED = "suspended", "of a suspended account"
    UNAUTHORIZED = "unauthorized", "not visible to us"
    UNAVAILABLE = "unavailable", "unavailable, reason unknown"
    UNASKED = "unasked", "not looked up yet"


# Of those, the ones that X does not show.
MISSING = frozenset(Presence) - {Presence.SHOWN, Presence.UNASKED}


def is_in(presence: str) -> models.Q:
    """The condition on tweets of what X last said of them."""
    if presence in MISSING:
        return models.Q(missing_reason=presence)
    return models.Q(missing_reason="", paid_on__isnull=presence == Presence.UNASKED)


class PresenceCount(models.Model):
    """By how many the tweets of a year and presence became more or fewer; their sum counts."""

    year = models.SmallIntegerField()
    presence = models.CharField(max_length=12)  # one of Presence
    tweets = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.tweets:+} {self.presence} of {self.year}"


# What it says of tweets before and after, null where it is not tracked, becomes counts. {moved}:
# rows with `id`, `before` and `after`. Ids have no order here: rows are only added.
_CHANGES_COUNTED = """
    INSERT INTO trackers_presencecount (year, presence, tweets)
    SELECT trackers_year_v1(id) AS year, presence, sum(change)
    FROM ({moved}) AS moved
    CROSS JOIN LATERAL (VALUES (before, -1), (after, 1)) AS counts(presence, change)
    WHERE before IS DISTINCT FROM after AND presence IS NOT NULL
    GROUP BY 1, 2
"""


def counting_presences(moved: str) -> str:
    """The part of a statement that counts what it changes; `moved` selects id, before and after."""
    return _CHANGES_COUNTED.replace("{moved}", moved)


def presences() -> Presences:
    """All tweets by year, the oldest first, and presence."""
    years: dict[int, dict[str, int]] = {}
    with cursor() as db:
        for year, presence, tweets in db.execute(_SUMS):
            years.setdefault(year, {})[presence] = tweets
    return years


_SUMS = """
    SELECT year, presence, sum(tweets)::bigint FROM trackers_presencecount
    GROUP BY 1, 2 HAVING sum(tweets) > 0 ORDER BY 1, 2
"""
# Of each year and presence one row. What was added since the statement began stays for the next.
_SUM_UP = """
    WITH taken AS (
        DELETE FROM trackers_presencecount
        WHERE (year, presence) IN (
            SELECT year, presence FROM trackers_presencecount
            GROUP BY 1, 2 HAVING count(*) > 1)
        RETURNING year, presence, tweets
    )
    INSERT INTO trackers_presencecount (year, presence, tweets)
    SELECT year, presence, sum(tweets) FROM taken GROUP BY 1, 2 HAVING sum(tweets) <> 0
"""
_AUDIT = statement(__file__, "audit_presences")
_NEWEST = "SELECT trackers_year_v1(max(id)) FROM trackers_tweet"
_FIRST_YEAR = 2010


def sum_up_presences() -> None:
    with cursor() as db:
        db.execute(_SUM_UP)


def audit_presences(*, now: datetime, deadline: Deadline) -> int:
    """Compare the counts with the tweets, a year in one statement, and add what they lack; return
    of how many tweets that was. The newest year first; those that time does not reach are checked
    by the next run that has more of it."""
    corrected = 0
    for year in range(_last_year(now), _FIRST_YEAR - 1, -1):
        if deadline.is_over:
            logger.warning("the audit of presences reached %d before its time was up", year)
            break
        first, beyond = _ids_of(year)
        with cursor() as db:
            params = {"year": year, "first": first, "beyond": beyond}
            rows = db.execute(_AUDIT, params).fetchall()
        if rows:
            logger.warning("%d: the counts of presences were wrong, and are right: %s", year, rows)
        corrected += sum(abs(difference) for _, difference in rows)
    return corrected


def _last_year(now: datetime) -> int:
    """That of the newest id: X's clock, and made-up ids, may be ahead of ours."""
    with cursor() as db:
        row = db.execute(_NEWEST).fetchone()
    return max(now.astimezone(UTC).year, (row and row[0]) or 0)


def _ids_of(year: int) -> tuple[int, int]:
    """The first id of a year, and the first one beyond it. Those without a time belong to 2010."""

    def first(year: int) -> int:
        return first_id_at(int(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000))

    return (first(year) if year > _FIRST_YEAR else -1), first(year + 1)
