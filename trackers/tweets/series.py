"""Series for curves: the newest few runs of many tweets, and the holes in runs.

A run means that the same metrics were measured from `taken_at` until `measured_until`. Nothing is
known about the time between two runs; if it is longer than the usual step, it is a hole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from trackers.tweets.history import Run
from trackers.tweets.models import METRICS
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# The interval between look-ups planned for that time; None: unknown.
Usual = Callable[[datetime], timedelta | None]

# How many runs on each side of a gap count as near, and how many steps show what was usual.
_NEAR_RUNS, _MIN_STEPS = 3, 2
# Twice, plus the jitter and the time in the buffer by which a look-up may be late.
HOLE_FACTOR = 2.2
# The index of the first of the six counts in a run; they are its last fields.
_FIGURES = Run._fields.index(METRICS[0])
assert Run._fields[_FIGURES:] == METRICS

_NEWEST_OF_A_MONTH = ", ".join(
    f"p.{column}[month.length - month.lacking + 1:]" for column in Run._fields[1:]
)

RECENT = statement(
    __file__,
    "recent",
    columns=", ".join(Run._fields[1:]),
    newest_of_a_month=_NEWEST_OF_A_MONTH,
)


def recent_runs(tweet_ids: Iterable[int], *, most: int) -> dict[int, list[Run]]:
    """The newest `most` runs of each tweet, in the order they were taken; one query for all."""
    runs_by_tweet: dict[int, list[Run]] = {}
    with cursor() as db:
        params = {"ids": array(tweet_ids), "most": most}
        for row in db.execute(RECENT, params, binary=True):
            runs_by_tweet.setdefault(row[0], []).append(Run(*row))
    return runs_by_tweet


def holes(runs: Sequence[Run], usual: Usual) -> frozenset[int]:
    """The indexes of the runs that have a hole before them.

    1. `record` begins a new run with the same figures only after a hole.
    2. Otherwise a hole is much longer than the interval for that age, and than the steps before and
       after it: changing the intervals later makes no holes in the past.
    """
    steps = [runs[place].taken_at - runs[place - 1].measured_until for place in range(1, len(runs))]
    return frozenset(place for place in range(1, len(runs)) if _is_hole(runs, steps, place, usual))


def _is_hole(runs: Sequence[Run], steps: Sequence[timedelta], place: int, usual: Usual) -> bool:
    """Whether there is a hole before the run at this index."""
    step = steps[place - 1]
    if step <= timedelta(0):
        return False
    if runs[place][_FIGURES:] == runs[place - 1][_FIGURES:]:
        return True
    expected = usual(runs[place - 1].measured_until)
    # The usual case: what the interval explains is not a hole, whatever the steps around it.
    if expected is not None and step <= HOLE_FACTOR * expected:
        return False
    return _is_long(
        step,
        expected,
        _median(
            [
                *_steps_within(runs[max(0, place - _NEAR_RUNS) : place]),
                *steps[: place - 1][-_NEAR_RUNS:],
            ]
        ),
        _median(
            [*_steps_within(runs[place : place + _NEAR_RUNS]), *steps[place : place + _NEAR_RUNS]]
        ),
    )


def _steps_within(runs: Sequence[Run]) -> Iterator[timedelta]:
    """The mean step within each run."""
    for run in runs:
        if run.measurements > 1:
            yield (run.measured_until - run.taken_at) / (run.measurements - 1)


def _median(steps: Sequence[timedelta]) -> timedelta | None:
    """The median; None if there are too few steps to show what was usual."""
    return sorted(steps)[(len(steps) - 1) // 2] if len(steps) >= _MIN_STEPS else None


def _is_long(step: timedelta, *usual: timedelta | None) -> bool:
    known = [length for length in usual if length is not None]
    return bool(known) and step > HOLE_FACTOR * max(known)
