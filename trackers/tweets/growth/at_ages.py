"""Counts of tweets at given ages: the last measurement at or before each age."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from trackers.tweets.models import METRICS
from tweetwatch.database import array, cursor

# A count says nothing about an age if it was last measured at less than half of that age.
STALE = 0.5
FLOOR = timedelta(minutes=2)
LEAST_MONTH = timedelta(days=28)


class Born(NamedTuple):
    """A tweet whose time of posting is known."""

    id: int
    at: datetime


class Reading(NamedTuple):
    """`counts`: those of the tweet at this age, as last measured at `measured_at`."""

    tweet_id: int
    age: timedelta
    measured_at: datetime
    counts: tuple[int | None, ...]

    def is_near(self, born: datetime) -> bool:
        """Whether it was measured recently enough to be called the count at this age."""
        return born + self.age - self.measured_at <= max(FLOOR, STALE * self.age)


# width_bucket is a binary search, so a tweet with a hundred thousand samples costs little more than
# one with a hundred. It needs ordered arrays: a sample that came days late is at the end of its
# month, and may be missed. [1:] unpacks an array once instead of at each access.
# A sample is filed under the month in which it ended, so the last one before an age may be in the
# next existing month: `months` includes that.
AT_AGES = """
    WITH asked AS MATERIALIZED (
        SELECT * FROM unnest(%(ids)s::bigint[], %(born)s::timestamptz[]) AS one(id, born)
    ),
    stretches AS MATERIALIZED (
        SELECT asked.born, p.* FROM asked CROSS JOIN LATERAL (
            SELECT tweet_id, taken_at[1:] AS taken_at, measured_until[1:] AS measured_until,
                   {slices}
            FROM trackers_packedsamples
            WHERE tweet_id = asked.id
              AND month >= date_trunc('month', asked.born AT TIME ZONE 'UTC')::date
            ORDER BY month LIMIT %(months)s
        ) AS p
        UNION ALL
        SELECT asked.born, recent.* FROM asked CROSS JOIN LATERAL (
            SELECT asked.id, array_agg(taken_at) AS taken_at, array_agg(measured_until), {arrays}
            FROM (
                SELECT * FROM (
                    SELECT taken_at, measured_until, {columns}
                    FROM trackers_sample WHERE tweet_id = asked.id
                    UNION ALL
                    SELECT taken_at, measured_until, {columns}
                    FROM trackers_tweet WHERE id = asked.id AND measurements > 0
                ) AS unpacked ORDER BY taken_at
            ) AS ordered
        ) AS recent WHERE recent.taken_at IS NOT NULL
    )
    SELECT DISTINCT ON (s.tweet_id, age)
           s.tweet_id, age, least(s.measured_until[n], s.born + age), {elements}
    FROM stretches s
    CROSS JOIN unnest(%(ages)s::interval[]) AS age
    CROSS JOIN LATERAL (SELECT width_bucket(s.born + age, s.taken_at) AS n) AS place
    WHERE s.born + age <= %(now)s AND n > 0
    ORDER BY s.tweet_id, age, s.taken_at[n] DESC
"""


@cache
def statement(metrics: tuple[str, ...]) -> str:
    """The statement for these of the METRICS."""
    assert set(metrics) <= set(METRICS)
    return AT_AGES.format(
        slices=", ".join(f"{one}[1:] AS {one}" for one in metrics),
        arrays=", ".join(f"array_agg({one})" for one in metrics),
        columns=", ".join(metrics),
        elements=", ".join(f"s.{one}[n]" for one in metrics),
    )


def at_ages(
    tweets: Iterable[Born],
    ages: Sequence[timedelta],
    *,
    now: datetime,
    metrics: tuple[str, ...] = METRICS,
) -> dict[int, list[Reading]]:
    """The readings of each tweet by increasing age; none for ages before its first measurement.

    Ages that it has not reached by `now` are left out.
    """
    asked = list(tweets)
    found: dict[int, list[Reading]] = {one.id: [] for one in asked}
    if not asked or not ages:
        return found
    given = {
        "ids": array(one.id for one in asked),
        "born": [one.at for one in asked],
        "ages": list(ages),
        "now": now,
        "months": max(ages) // LEAST_MONTH + 3,
    }
    with cursor() as db:
        for id, age, at, *counts in db.execute(statement(metrics), given, binary=True):
            found[id].append(Reading(id, age, at, tuple(counts)))
    return found
