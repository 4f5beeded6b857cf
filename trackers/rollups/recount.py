"""Make the rollups of some quarters of an hour anew: the one statement that writes them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from trackers.rollups.classes import CLASSES
from trackers.rollups.models import QUARTER_MS, RollupKind
from trackers.tweets.checkpoints.ages import AGES, ROLLUP_AGES
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import FIRST_WITH_TIME, first_id_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_PLACE_OF_AGE = {name: AGES.index(age) + 1 for name, age in ROLLUP_AGES.items()}
_COLUMNS = [
    column
    for age in ROLLUP_AGES
    for column in (
        f"measured_{age}",
        *(f"{metric}_{age}" for metric in METRICS),
        f"places_{age}",
        f"counts_{age}",
    )
]


def _each(of_age: str, of_metric: str = "") -> str:
    """The templates by age, and by age and metric."""
    parts = []
    for age, place in _PLACE_OF_AGE.items():
        parts.append(of_age.format(age=age, place=place))
        parts += [of_metric.format(metric=m, age=age, place=place) for m in METRICS if of_metric]
    return ", ".join(parts)


def _array(numbers: Iterable[int], of: str = "smallint") -> str:
    return f"'{{{', '.join(map(str, numbers))}}}'::{of}[]"


RECOUNT = statement(
    __file__,
    "recount",
    **{kind.name.lower(): f"{int(kind)}::smallint" for kind in RollupKind},
    kinds=_array(int(kind) for kind in RollupKind),
    measured=", ".join(f"measured_{age}" for age in ROLLUP_AGES),
    ages=_array(_PLACE_OF_AGE.values()),
    metrics=", ".join(f"({n * CLASSES}, {metric}::bigint)" for n, metric in enumerate(METRICS)),
    of_tweet=_each(
        "bool_or(age = {place}) AS is_measured_{age}",
        "max({metric}) FILTER (WHERE age = {place}) AS {metric}_{age}",
    ),
    of_set=_each(
        "(count(*) FILTER (WHERE is_measured_{age}))::int AS measured_{age}",
        "sum({metric}_{age})::bigint AS {metric}_{age}",
    ),
    of_histogram=_each(
        "array_agg(place ORDER BY place) FILTER (WHERE age = {place}) AS places_{age},"
        " array_agg(posts ORDER BY place) FILTER (WHERE age = {place}) AS counts_{age}"
    ),
    columns=", ".join(_COLUMNS),
    fresh_columns=", ".join(f"fresh.{column}" for column in _COLUMNS),
    kept_columns=", ".join(f"kept.{column}" for column in _COLUMNS),
    excluded_columns=", ".join(f"excluded.{column}" for column in _COLUMNS),
)
# See recount.sql. JIT compiling takes longer than running a piece.
PLANNED_FOR_RANGES = (
    "SET LOCAL jit = off",
    "SET LOCAL enable_nestloop = off",
    "SET LOCAL enable_seqscan = off",
    "SET LOCAL work_mem = '64MB'",
)
PLANNED_AS_USUAL = (
    "SET LOCAL enable_nestloop = on",
    "SET LOCAL enable_seqscan = on",
)


def recount(quarters: Iterable[int], *, now: datetime) -> dict[int, int]:
    """Bring the rollups of these quarters up to date; how many rows differed, by quarter. In a
    transaction of the one process that writes them."""
    asked = sorted(set(quarters))
    params = {
        "quarters": asked,
        "first": array(first_id_of(quarter) for quarter in asked),
        "beyond": array(first_id_of(quarter + 1) for quarter in asked),
        "now": now,
    }
    with cursor() as db:
        for choice in PLANNED_FOR_RANGES:
            db.execute(choice)
        differing = dict(db.execute(RECOUNT, params, prepare=False).fetchall())
        for choice in PLANNED_AS_USUAL:
            db.execute(choice)
    return differing


def quarter_at(at: datetime) -> int:
    """The quarter of an hour, since 1970, in which that time is."""
    return int(at.timestamp() * 1000) // QUARTER_MS


def first_id_of(quarter: int) -> int:
    """The lowest id of the quarter; ids that carry no time are in none."""
    return max(FIRST_WITH_TIME, first_id_at(quarter * QUARTER_MS))
