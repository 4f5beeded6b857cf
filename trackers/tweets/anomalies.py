"""Where a curve does what curves seldom do. Pure, over the runs of one tweet.

Growth is that of its views, or of its likes where views are not known, in whole hours since the
first run, linear between two measurements; an hour with a hole in it is not known.

- **Second wave**: at least three times the growth of the hour before, after that had fallen to a
  tenth of the best hour so far. Both the best hour and the new one gained the minimum at least.
- **Sudden stop**: at most a tenth of the growth of the hour before, which gained ten times the
  minimum at least.
- **A metric that fell**: any of the six, by a tenth and by ten at least, from one measurement to
  the next, as `happenings` notes it. X removes what it takes for spam.

The minimum is that of scores: 100 views, or 10 of any other metric.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from itertools import pairwise

from trackers.tweets.history import Run
from trackers.tweets.models import METRICS

_HOUR = timedelta(hours=1)
_MINIMUM = {"views": 100, "likes": 10}
_TRIPLE, _TENTH, _LEAST_FALL = 3, 10, 10


class AnomalyKind(Enum):
    SECOND_WAVE = "second wave"
    SUDDEN_STOP = "sudden stop"
    FELL = "fell"


@dataclass(frozen=True, slots=True)
class Anomaly:
    kind: AnomalyKind
    at: datetime
    metric: str
    before: int  # the growth of the hour before; or from how many it fell
    after: int


def anomalies(runs: Sequence[Run], holes: frozenset[int]) -> list[Anomaly]:
    """In the order of time."""
    metric = "views" if any(run.views is not None for run in runs) else "likes"
    found = [*_of_growth(runs, holes, metric), *_falls(runs)]
    return sorted(found, key=lambda anomaly: anomaly.at)


def _of_growth(runs: Sequence[Run], holes: frozenset[int], metric: str) -> Iterator[Anomaly]:
    minimum, best, before = _MINIMUM[metric], 0.0, None
    for begin, growth in _hourly_growth(runs, holes, metric):
        if before is not None and growth is not None:
            figures = begin, metric, round(before), round(growth)
            fell = best >= minimum and before * _TENTH <= best
            if fell and growth >= max(minimum, _TRIPLE * before):
                yield Anomaly(AnomalyKind.SECOND_WAVE, *figures)
                best = 0.0
            elif before >= _TENTH * minimum and growth * _TENTH <= before:
                yield Anomaly(AnomalyKind.SUDDEN_STOP, *figures)
        best, before = max(best, growth or 0.0), growth


def _hourly_growth(
    runs: Sequence[Run], holes: frozenset[int], metric: str
) -> Iterator[tuple[datetime, float | None]]:
    """Each whole hour and what it gained; None: not known. A curve may have ten thousands of runs:
    only those at the ends of hours are looked at."""
    if not runs:
        return
    values = [getattr(run, metric) for run in runs]
    unknown = {place for place, value in enumerate(values) if value is None}
    gaps = holes | unknown | {place + 1 for place in unknown}
    sorted_gaps, starts = sorted(gaps), [run.taken_at for run in runs]

    def count_at(at: datetime) -> tuple[int, float | None]:
        """The run that it is in or after, and the count."""
        place = bisect_right(starts, at) - 1
        since, value = runs[place].measured_until, values[place]
        # The newest run may end before it begins, while a clock was ahead.
        if at <= since or value is None or place + 1 == len(runs):
            return place, value
        if place + 1 in gaps:
            return place, None
        share = (at - since) / (starts[place + 1] - since)
        return place, value + share * (values[place + 1] - value)

    begin = starts[0]
    before, old = count_at(begin)
    while begin + _HOUR <= runs[-1].measured_until:
        end = begin + _HOUR
        place, new = count_at(end)
        is_known = bisect_right(sorted_gaps, before) == bisect_right(sorted_gaps, place)
        yield begin, new - old if is_known and new is not None and old is not None else None
        begin, before, old = end, place, new


def _falls(runs: Sequence[Run]) -> Iterator[Anomaly]:
    for metric in METRICS:
        values = [getattr(run, metric) for run in runs]
        for place, (old, new) in enumerate(pairwise(values), 1):
            if new is None or old is None or new >= old:
                continue
            if old - new >= max(_LEAST_FALL, old / _TENTH):
                yield Anomaly(AnomalyKind.FELL, runs[place].taken_at, metric, old, new)
