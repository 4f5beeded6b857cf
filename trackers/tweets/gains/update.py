"""Every minute: the lists of what grows fastest, from the tweets whose metrics changed.

Changed ────────────────┐
                        ├─> a piece of tweets ─> their metrics at each window's beginning ─> Gain
rows whose time is over ┘                                └─> the tweets: when to rank them again
Most changes of most tweets move no list. So a ranking writes to the tweet's row how high each
metric has to be before it could, and a save notes only the tweets that are; and those never ranked,
or not for RANK_AGAIN_AFTER. The cost of a minute depends on how many were noted in it, never on how
many there are: a tweet is found by its key, and its samples of the last day by the index. A tweet
whose metrics are lower than the last gain of a full list is skipped before its samples are read. If
time runs out, the rest waits for the next minute. What has waited for DROP_AFTER is dropped, and is
noted at its next change.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any, NamedTuple

from django.db import transaction

from trackers.tweets.gains.models import EVER, RATE_FROM, Window, may_be_listed
from trackers.tweets.models import METRICS
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count, wait_for_work
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# A list's length, by gain and again by velocity: forty pages of fifty.
MAX_LIST_LENGTH = 2_000
# Per piece: rows of `Changed` at most; and tweets, up to one row more.
_STATEMENTS_PER_PIECE = 500
_TWEETS_PER_PIECE = 5_000
DROP_AFTER = timedelta(minutes=15)
# What a list's last has may halve before a tweet is missing that was ranked when it was higher.
_MARGIN = 0.5
# And after so long the tweet is ranked whatever it has: less than that takes hours of an evening.
RANK_AGAIN_AFTER = timedelta(hours=2)
# How long a gain is kept before it is recomputed, however often its tweet changes. A moment less
# than whole minutes, as a minute's run may come early.
_RECOMPUTE_AFTER = {
    Window.QUARTER: timedelta(seconds=50),
    Window.HOUR: timedelta(seconds=170),
    Window.DAY: timedelta(seconds=890),
    EVER: timedelta(seconds=170),
}

_FIGURES = f"ARRAY[{', '.join(METRICS)}]::bigint[]"
# The metrics of the sample at place `i` in the arrays.
_PACKED_FIGURES = f"ARRAY[{', '.join(f'p.{metric}[i]' for metric in METRICS)}]::bigint[]"
_ZERO_FIGURES = f"ARRAY[{', '.join('0' for _ in METRICS)}]::bigint[]"

# The last gain and velocity in a full list; null while it is not full.
_LAST_OF_LISTS = """
    SELECT l.minutes, l.metric,
           (SELECT gain FROM trackers_gain m WHERE m.minutes = l.minutes AND m.metric = l.metric
            ORDER BY gain DESC, tweet_id DESC OFFSET %(most)s - 1 LIMIT 1),
           (SELECT velocity FROM trackers_gain m
            WHERE m.minutes = l.minutes AND m.metric = l.metric
            ORDER BY velocity DESC, tweet_id DESC OFFSET %(most)s - 1 LIMIT 1)
    FROM unnest(%(minutes)s::int[], %(metrics)s::text[]) AS l(minutes, metric)
"""

_PRUNE_STALE = "DELETE FROM trackers_changed WHERE at < %(before)s"
_TAKE_CHANGED = statement(
    __file__,
    "take_changed",
    may_be_listed=may_be_listed("t", at="%(now)s", values=[f"t.{metric}" for metric in METRICS]),
)
# `again_at` has no index, since each change of a row would have to write it: the lists are short.
_TAKE_DUE = """
    SELECT array_agg(DISTINCT tweet_id) FROM (
        SELECT tweet_id FROM trackers_gain WHERE again_at <= %(now)s
        ORDER BY again_at LIMIT %(most)s
    ) due
"""

# The planner overestimates a piece by far, and JIT compiling takes longer than running it.
INTERPRETED = "SET LOCAL jit = off"

GAINS = statement(
    __file__,
    "gains",
    figures=_FIGURES,
    packed_figures=_PACKED_FIGURES,
    nothing=_ZERO_FIGURES,
    rate_from=RATE_FROM.total_seconds(),
    ranked_at=f"ARRAY[{', '.join(f'ranked_at_{metric}' for metric in METRICS)}]",
    margin=_MARGIN,
)
_NAME_NEXT = statement(__file__, "name_next")

_TRIM = statement(__file__, "trim")

_CHANGES_LEFT = "SELECT count(*) FROM (SELECT FROM trackers_changed LIMIT 1000) waiting"

_WORK = "what grows fastest"
_LISTS = [
    (window, place, metric) for window in (*Window, EVER) for place, metric in enumerate(METRICS, 1)
]
_UNNAMED = (None,) * len(METRICS)


class Ranked(NamedTuple):
    tweet_id: int
    # In the order of METRICS: from which value on a change could bring it into a list in which it
    # is not. None: X does not show it.
    again_from: Sequence[int] | None
    has_left: bool  # a list in which it was


def update_gains(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Bring the lists up to date; `rows` of the result counts tweets."""
    with cursor() as db:
        db.execute(_PRUNE_STALE, {"before": now - DROP_AFTER})
    lists = lists_with_thresholds()

    def piece() -> int | None:
        with cursor() as db:
            [due] = db.execute(_TAKE_DUE, {"now": now, "most": _TWEETS_PER_PIECE}).fetchone() or [
                None
            ]
        if due:
            _name_next_of_left(rank(due, lists, now=now), now=now)
            return len(due)
        statements, noted = _take_changed(now=now)
        if noted:
            _name_next(rank(noted, lists, every_window=True, now=now), now=now)
        return len(noted) if statements else None

    def left() -> int:
        return select_count(_CHANGES_LEFT, {})

    worked = in_pieces(_WORK, piece, left=left, deadline=deadline)
    with cursor() as db:
        db.execute(_TRIM, lists_with_thresholds())
    if worked.left:
        logger.warning(
            "more tweets change than can be ranked: statements with changes of %d saves wait",
            worked.left,
        )
    return worked


def _take_changed(*, now: datetime) -> tuple[int, list[int]]:
    """How many statements' changes were taken, and which of their tweets are to be ranked."""
    params = {"now": now, "statements": _STATEMENTS_PER_PIECE, "tweets": _TWEETS_PER_PIECE}
    with cursor() as db:
        row = db.execute(_TAKE_CHANGED, params).fetchone()
    assert row is not None
    return row[0], row[1] or []


def rank(
    ids: list[int], lists: dict[str, Any], *, every_window: bool = False, now: datetime
) -> list[Ranked]:
    """Write the gains of these tweets, and remove what they no longer gained; in every window, or
    only in those whose time is over."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with cursor() as db:
        db.execute(INTERPRETED)
        # Never prepared: the plan for any number of tweets expects ten, and compares all gains of a
        # thousand with one another. That takes a minute instead of half a second.
        params = {"ids": ids, "all": every_window, "now": now, "today": today, **lists}
        return [*map(Ranked._make, db.execute(GAINS, params, prepare=False))]


def _name_next(ranked: Sequence[Ranked], *, now: datetime) -> None:
    """Write to the tweets when they are ranked again. Last in its transaction: until it ends, a
    save of one of them waits."""
    columns = zip(*(one.again_from or _UNNAMED for one in ranked), strict=True)
    params = {
        "ids": array(one.tweet_id for one in ranked),
        **{metric: array(column) for metric, column in zip(METRICS, columns, strict=True)},
        "now": now,
        "again_after": RANK_AGAIN_AFTER,
    }
    with cursor() as db:
        db.execute(_NAME_NEXT, params)


def _name_next_of_left(ranked: Sequence[Ranked], *, now: datetime) -> None:
    """In a list that it left, a tweet is no longer ranked when its time there is over."""
    if left := [one for one in ranked if one.has_left]:
        _name_next(left, now=now)


def rank_named(ids: list[int], *, now: datetime) -> None:
    """Bring the gains of these few tweets up to date, whatever their places would be. The next
    `update_gains` removes those for which the lists are too short."""
    lists = lists_with_thresholds()
    # No list is full.
    open_to_all = [None] * len(_LISTS)
    with transaction.atomic():
        # Two concurrent rankings of a tweet would lock its rows in the orders of their own plans.
        wait_for_work(_WORK)
        ranked = rank(ids, {**lists, "gains": open_to_all, "velocities": open_to_all}, now=now)
        _name_next_of_left(ranked, now=now)


def lists_with_thresholds() -> dict[str, Any]:
    """The lists as parallel arrays, each with the gain and velocity needed to be in it."""
    params = {
        "minutes": [int(window) for window, *_ in _LISTS],
        "metrics": [metric for *_, metric in _LISTS],
    }
    with cursor() as db:
        rows = db.execute(_LAST_OF_LISTS, {**params, "most": MAX_LIST_LENGTH}).fetchall()
    last_by_list = {(minutes, metric): (gain, velocity) for minutes, metric, gain, velocity in rows}
    last = [last_by_list[int(window), metric] for window, _, metric in _LISTS]
    return {
        **params,
        "places": [place for _, place, _ in _LISTS],
        "holds": [_RECOMPUTE_AFTER[window] for window, *_ in _LISTS],
        "gains": [gain for gain, _ in last],
        # Nobody asks which tweet was the fastest in its whole life.
        "velocities": [
            inf if window == EVER else velocity
            for (window, *_), (_, velocity) in zip(_LISTS, last, strict=True)
        ],
    }
