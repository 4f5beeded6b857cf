"""Every minute: the lists of what grows fastest, from the tweets whose metrics changed.

Changed ────────────────┐
                        ├─> a piece of tweets ─> their metrics at each window's beginning ─> Gain
rows whose time is over ┘
The cost of a minute depends on how many tweets changed in it, never on how many there are: a tweet
is found by its key, and its samples of the last day by the index. A tweet whose metrics are lower
than the last gain of a full list is skipped before its samples are read. If time runs out, the rest
waits for the next minute; what has waited for STALE is dropped.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction

from trackers.tweets.gains.models import EVER, RATE_FROM, Window
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count, wait_for_work
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# A list's length, by gain and again by velocity: forty pages of fifty.
MAX_LIST_LENGTH = 2_000
# Per piece: rows of `Changed`, each with up to a thousand tweets; and tweets of due rows.
_STATEMENTS_PER_PIECE = 10
_DUE_PER_PIECE = 5_000
DROP_AFTER = timedelta(minutes=15)
# How long a gain is kept before it is recomputed, however often its tweet changes. A moment less
# than whole minutes, as a minute's run may come early.
_RECOMPUTE_AFTER = {
    Window.QUARTER: timedelta(seconds=50),
    Window.HOUR: timedelta(seconds=170),
    Window.DAY: timedelta(seconds=890),
    # Recomputed when it changes, and once a day, so that no row of a deleted tweet remains.
    EVER: timedelta(days=1),
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
# SKIP LOCKED is not needed: only one housekeeper at a time works on a piece.
_TAKE_CHANGED = """
    WITH taken AS (
        DELETE FROM trackers_changed WHERE id = ANY(ARRAY(
            SELECT id FROM trackers_changed ORDER BY id LIMIT %(most)s))
        RETURNING ids
    )
    SELECT array_agg(DISTINCT id) FROM taken, unnest(ids) AS id
"""
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
)

# Removes what a full list no longer holds. Rows that tie with the last velocity or gain stay.
_TRIM = """
    DELETE FROM trackers_gain m
    USING unnest(%(minutes)s::int[], %(metrics)s::text[], %(gains)s::bigint[],
                 %(velocities)s::float8[]) AS l(minutes, metric, gain, velocity)
    WHERE m.minutes = l.minutes AND m.metric = l.metric
      AND m.gain < l.gain AND m.velocity < l.velocity
"""

_CHANGES_LEFT = "SELECT count(*) FROM (SELECT FROM trackers_changed LIMIT 1000) waiting"

_WORK = "what grows fastest"
_LISTS = [
    (window, place, metric) for window in (*Window, EVER) for place, metric in enumerate(METRICS, 1)
]


def update_gains(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Bring the lists up to date; `rows` of the result counts tweets."""
    with cursor() as db:
        db.execute(_PRUNE_STALE, {"before": now - DROP_AFTER})
    lists = lists_with_thresholds()

    def piece() -> int | None:
        with cursor() as db:
            params: dict[str, Any] = {"now": now, "most": _DUE_PER_PIECE}
            [ids] = db.execute(_TAKE_DUE, params).fetchone() or (None,)
            if ids is None:
                [ids] = db.execute(_TAKE_CHANGED, {"most": _STATEMENTS_PER_PIECE}).fetchone() or (
                    None,
                )
            if ids is not None:
                rank(ids, lists, now=now)
        return len(ids) if ids else None

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


def rank(ids: list[int], lists: dict[str, Any], *, now: datetime) -> None:
    """Write the gains of these tweets, and remove what they no longer gained."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with cursor() as db:
        db.execute(INTERPRETED)
        # Never prepared: the plan for any number of tweets expects ten, and compares all gains of a
        # thousand with one another. That takes a minute instead of half a second.
        db.execute(GAINS, {"ids": ids, "now": now, "today": today, **lists}, prepare=False)


def rank_named(ids: list[int], *, now: datetime) -> None:
    """Bring the gains of these few tweets up to date, whatever their places would be. The next
    `keep` removes those for which the lists are too short."""
    lists = lists_with_thresholds()
    open_to_all = [None] * len(_LISTS)
    with transaction.atomic():
        # Two concurrent rankings of a tweet would lock its rows in the orders of their own plans.
        wait_for_work(_WORK)
        rank(ids, {**lists, "gains": open_to_all, "velocities": open_to_all}, now=now)


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
        "velocities": [velocity for _, velocity in last],
    }
