"""The figures of a set in a period, from its rollups.

    sums(RollupKind.SOURCE, "12", [(since, until)], age=timedelta(days=1))

`key` is as `Rollup` has it. `age` is one of ROLLUP_AGES. A period begins and ends on quarters of an
hour, as days of every time zone do; a quarter belongs to the period in which it begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from trackers.rollups.classes import CLASSES, median_of
from trackers.rollups.models import QUARTER_MS, RollupKind
from trackers.rollups.recount import quarter_at
from trackers.tweets.checkpoints.ages import ROLLUP_AGES
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor
from tweetwatch.statements import fill

_QUARTER = timedelta(milliseconds=QUARTER_MS)
COLUMN_OF_AGE = {age: name for name, age in ROLLUP_AGES.items()}
_OF_SET = """
    FROM trackers_rollup
    WHERE kind = %(kind)s AND key = %(key)s AND quarter >= {first} AND quarter < {beyond}
"""
# Each stretch of time by the key, whatever the statistics say: LATERAL.
_SUMS = {
    age: f"""
        SELECT of.* FROM unnest(%(first)s::int[], %(beyond)s::int[])
            WITH ORDINALITY AS stretch(first, beyond, place)
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(posts), 0)::bigint, coalesce(sum(measured_{name}), 0)::bigint,
                   {", ".join(f"coalesce(sum({metric}_{name}), 0)::bigint" for metric in METRICS)}
            {_OF_SET.format(first="stretch.first", beyond="stretch.beyond")}
        ) of ORDER BY place
    """
    for age, name in COLUMN_OF_AGE.items()
}
# The places are in order, so those of one metric are found by halving.
_CLASSES_OF = """
    SELECT place - {least} AS class, posts::bigint FROM (
        SELECT places_{age} AS places, counts_{age} AS counts,
               width_bucket(({least} - 1)::smallint, places_{age}) + 1 AS first,
               width_bucket(({least} + {most})::smallint, places_{age}) AS last
        FROM (SELECT r.places_{age}, r.counts_{age} OFFSET 0) r
    ) r CROSS JOIN unnest(places[first:last], counts[first:last]) AS of(place, posts)
    UNION ALL
    SELECT trackers_class_v1(r.{metric}_{age}) AS class, 1
    WHERE r.places_{age} IS NULL AND r.{metric}_{age} IS NOT NULL
"""


def classes_of(metric: str, age: timedelta) -> str:
    """In SQL: of a rollup `r` the classes of a metric at that age, and how many posts each has."""
    return fill(
        _CLASSES_OF,
        {
            "metric": metric,
            "age": COLUMN_OF_AGE[age],
            "least": METRICS.index(metric) * CLASSES,
            "most": CLASSES - 1,
        },
    )


def _histogram(metric: str, age: timedelta) -> str:
    return f"""
        SELECT c.class, sum(c.posts)::bigint FROM (
            SELECT places_{COLUMN_OF_AGE[age]}, counts_{COLUMN_OF_AGE[age]},
                   {metric}_{COLUMN_OF_AGE[age]}
            {_OF_SET.format(first="%(first)s", beyond="%(beyond)s")}
              AND measured_{COLUMN_OF_AGE[age]} > 0 OFFSET 0
        ) r CROSS JOIN LATERAL ({classes_of(metric, age)}) c GROUP BY c.class
    """


HISTOGRAMS = {(metric, age): _histogram(metric, age) for metric in METRICS for age in COLUMN_OF_AGE}


class Sums(NamedTuple):
    """The posts of a stretch of time, and what those that reached the age had at it."""

    posts: int
    measured: int  # those with a checkpoint of that age
    retweets: int
    replies: int
    likes: int
    quotes: int
    bookmarks: int
    views: int


def sums(
    kind: RollupKind, key: str, stretches: Sequence[tuple[datetime, datetime]], age: timedelta
) -> list[Sums]:
    """Of each stretch of time, from its first time up to before its second. One statement."""
    params = {
        "kind": int(kind),
        "key": key,
        "first": [_first_quarter(since) for since, _ in stretches],
        "beyond": [_first_quarter(until) for _, until in stretches],
    }
    with cursor() as db:
        return list(map(Sums._make, db.execute(_SUMS[age], params, binary=True).fetchall()))


def median(
    kind: RollupKind, key: str, since: datetime, until: datetime, age: timedelta, metric: str
) -> float | None:
    """About the median of a metric (`classes`), of the posts that have it; None: none does."""
    params = {
        "kind": int(kind),
        "key": key,
        "first": _first_quarter(since),
        "beyond": _first_quarter(until),
    }
    with cursor() as db:
        rows = db.execute(HISTOGRAMS[metric, age], params).fetchall()
    return median_of(dict(rows))


def _first_quarter(at: datetime) -> int:
    """The first quarter of an hour that begins then or later."""
    return quarter_at(at + _QUARTER - timedelta(microseconds=1))
