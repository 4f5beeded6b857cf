"""What the sets of one kind have in a period, beside the one before: those that are highest by any
figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from trackers.rollups.classes import median_of
from trackers.rollups.models import RollupKind
from trackers.rollups.read import COLUMN_OF_AGE, classes_of
from trackers.rollups.recount import first_id_of, quarter_at
from trackers.scores.models import STANDS_OUT
from trackers.sets.period_figures import SET_AGES
from trackers.sets.periods import TimeSpan
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor
from tweetwatch.statements import statement

STEPS = 14
# The metrics that are ranked; engagements need all.
RANKED = ("views", "likes", "retweets")
# So many of each figure are listed.
MAX_LISTED = 100
# The share above usual is of so many of a set's newest posts; of sets that posts name, of those
# among so many of all posts.
_MOST_SCORED, _MOST_NAMED = 1_000, 50_000
# Fewer posts that have reached the age have no median, rate or share.
MIN_MEASURED = 5

_THIS, _OLD = "quarter >= %(since)s", "quarter >= %(since)s AND quarter < %(old_until)s"
_BEFORE, _OLD_BEFORE = "quarter < %(since)s", "quarter < %(old_before)s"
_IDS = "id >= %(low)s AND id < %(high)s ORDER BY id DESC"
_TWEET_IDS = "tweet_id >= %(low)s AND tweet_id < %(high)s ORDER BY tweet_id DESC"
_NEWEST = {
    RollupKind.AUTHOR: (
        f"SELECT id FROM trackers_tweet WHERE author_id = of.key::bigint AND {_IDS}"
    ),
    RollupKind.SOURCE: (
        "SELECT tweet_id AS id FROM trackers_sourcetweet"
        f" WHERE source_id = of.key::bigint AND {_TWEET_IDS}"
    ),
    RollupKind.TAG: (
        "SELECT tweet_id AS id FROM trackers_tweettag"
        f" WHERE tag_id = of.key::bigint AND {_TWEET_IDS}"
    ),
}
_NAMED_IN = {
    RollupKind.HASHTAG: "hashtags",
    RollupKind.DOMAIN: "domains",
    RollupKind.LANGUAGE: "ARRAY[lang]",
}


def above_named(kind: RollupKind, *, most: int) -> str:
    return statement(
        __file__, "above_named", keys=_NAMED_IN[kind], most=most, stands_out=STANDS_OUT
    )


ABOVE = {
    kind: statement(
        __file__, "above", newest=f"{newest} LIMIT {_MOST_SCORED}", stands_out=STANDS_OUT
    )
    for kind, newest in _NEWEST.items()
} | {kind: above_named(kind, most=_MOST_NAMED) for kind in _NAMED_IN}


def _sums(age: str) -> dict[str, str]:
    columns = {
        "posts": f"sum(posts) FILTER (WHERE {_THIS})",
        "posts_before": f"sum(posts) FILTER (WHERE {_BEFORE})",
        "old": f"sum(posts) FILTER (WHERE {_OLD})",
        "measured": f"sum(measured_{age}) FILTER (WHERE {_OLD})",
    }
    for metric in METRICS:
        columns[metric] = f"sum({metric}_{age}) FILTER (WHERE {_OLD})::bigint"
    for metric in RANKED:
        columns[f"{metric}_before"] = f"sum({metric}_{age}) FILTER (WHERE {_OLD_BEFORE})::bigint"
    return columns


def _orders() -> dict[str, str]:
    enough = f"measured >= {MIN_MEASURED}"
    engagements = " + ".join(f"coalesce({one}, 0)" for one in METRICS if one != "views")
    return {
        "posts": "posts",
        "rate": f"CASE WHEN {enough} AND views >= 100 THEN ({engagements})::float8 / views END",
        **{metric: metric for metric in RANKED},
        # The highest means, among which the highest medians are.
        **{
            f"mean_{one}": f"CASE WHEN {enough} THEN {one}::float8 / measured END" for one in RANKED
        },
        **{
            f"change_{one}": f"CASE WHEN {one}_before >= 100 THEN {one}::float8 / {one}_before END"
            for one in RANKED
        },
    }


def _sums_statement(age: str) -> str:
    columns, orders = _sums(age), _orders()
    return statement(
        __file__,
        "sums",
        sums=", ".join(f"{value} AS {name}" for name, value in columns.items()),
        columns=", ".join(columns),
        places=", ".join(
            f"row_number() OVER (ORDER BY {value} DESC NULLS LAST, key) AS by_{name}"
            for name, value in orders.items()
        ),
        each_place=", ".join(f"by_{name}" for name in orders),
    )


@dataclass(frozen=True, slots=True)
class ComparedSpans:
    """Whose posts are counted."""

    this: TimeSpan
    before: TimeSpan
    old: TimeSpan  # the part of `this` whose posts have reached the age
    age: str  # of SET_AGES

    @property
    def old_before(self) -> TimeSpan:
        """As long a part of the period before."""
        until = self.before.since + (self.old.until - self.this.since)
        return TimeSpan(self.before.since, min(until, self.this.since))


SUMS = {age: _sums_statement(name) for age, name in COLUMN_OF_AGE.items()}
STEPS_OF = {
    age: statement(
        __file__,
        "steps",
        totals=", ".join(f"coalesce(sum({one}_{name}), 0)::bigint" for one in RANKED),
        columns=", ".join(f"{one}_{name}" for one in RANKED),
    )
    for age, name in COLUMN_OF_AGE.items()
}
MEDIANS = {
    (metric, age): statement(
        __file__,
        "medians",
        columns=f"places_{name}, counts_{name}, {metric}_{name}",
        measured=f"measured_{name}",
        classes=classes_of(metric, age),
    )
    for metric in RANKED
    for age, name in COLUMN_OF_AGE.items()
}


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set in a period. `totals`, `before`, `medians` and `steps` by metric of RANKED, at the age;
    None: not known, or of too few posts."""

    key: str
    posts: int
    posts_before: int
    old: int  # have reached the age
    measured: int
    totals: dict[str, int | None]
    before: dict[str, int | None]
    medians: dict[str, float | None]
    rate: float | None
    scored: int  # of so many the score of views is known
    above: float | None  # the share of these with at least twice what is usual; None too: too few
    steps: dict[str, list[int]]  # both periods in STEPS parts


def count_sets(kind: RollupKind, spans: ComparedSpans) -> list[SetRow]:
    """Those of all tweets that are highest by any figure, from rollups."""
    this, old, age = spans.this, spans.old, SET_AGES[spans.age]
    params: dict[str, Any] = {
        "kind": int(kind),
        "before": quarter_at(spans.before.since),
        "since": quarter_at(this.since),
        # With the quarter that is not over.
        "until": quarter_at(this.until - timedelta(microseconds=1)) + 1,
        "old_until": quarter_at(old.until),
        "old_before": quarter_at(spans.old_before.until),
        "most": MAX_LISTED,
        "steps": STEPS,
        "low": first_id_of(quarter_at(this.since)),
        "high": first_id_of(quarter_at(old.until)),
    }
    names = list(_sums(COLUMN_OF_AGE[age]))
    with cursor() as db:
        db.execute("SET LOCAL jit = off")
        rows = {
            key: dict(zip(names, sums, strict=True))
            for key, *sums in db.execute(SUMS[age], params, prepare=False)
        }
        params["keys"] = list(rows)
        steps = _steps(db.execute(STEPS_OF[age], params, prepare=False).fetchall())
        medians = {
            metric: _medians(db.execute(MEDIANS[metric, age], params, prepare=False).fetchall())
            for metric in RANKED
        }
        above = {}
        if kind in ABOVE:
            found = db.execute(ABOVE[kind], params, prepare=False).fetchall()
            above = {key: (scored, high) for key, scored, high in found}
    return [_row(key, sums, steps, medians, above) for key, sums in rows.items()]


def _steps(rows: Sequence[tuple[Any, ...]]) -> dict[str, dict[str, list[int]]]:
    steps: dict[str, dict[str, list[int]]] = defaultdict(
        lambda: {metric: [0] * STEPS for metric in RANKED}
    )
    for key, step, *totals in rows:
        for metric, total in zip(RANKED, totals, strict=True):
            steps[key][metric][step] = total
    return steps


def _medians(rows: Sequence[tuple[Any, ...]]) -> dict[str, float | None]:
    by_key: dict[str, dict[int, int]] = defaultdict(dict)
    for key, place, posts in rows:
        by_key[key][place] = posts
    return {key: median_of(counts) for key, counts in by_key.items()}


def _row(
    key: str,
    sums: dict[str, int | None],
    steps: dict[str, dict[str, list[int]]],
    medians: dict[str, dict[str, float | None]],
    above: dict[str, tuple[int, int]],
) -> SetRow:
    measured = sums["measured"] or 0
    scored, high = above.get(key, (0, 0))
    is_enough = measured >= MIN_MEASURED
    return SetRow(
        key=key,
        posts=sums["posts"] or 0,
        posts_before=sums["posts_before"] or 0,
        old=sums["old"] or 0,
        measured=measured,
        totals={metric: sums[metric] for metric in RANKED},
        before={metric: sums[f"{metric}_before"] for metric in RANKED},
        medians={one: medians[one].get(key) if is_enough else None for one in RANKED},
        rate=_rate(sums) if is_enough else None,
        scored=scored,
        above=high / scored if scored >= MIN_MEASURED else None,
        steps=steps[key],
    )


def _rate(sums: dict[str, int | None]) -> float | None:
    views = sums["views"] or 0
    engagements = sum(sums[metric] or 0 for metric in METRICS if metric != "views")
    return engagements / views if views >= 100 else None
