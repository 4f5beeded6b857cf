"""Lines by age of a few tweets that were asked for: from the database, and old months from the
archive. Whatever counts many tweets reads checkpoints."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter

from trackers.tweets.archive.read import Asked, archived
from trackers.tweets.growth.at_ages import Born, CountsAtAge, at_ages
from trackers.tweets.history import Run
from trackers.tweets.models import METRICS

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class LinesByAge:
    readings: dict[int, list[CountsAtAge]]
    # What is not among them, if something could not be read; a sentence.
    lacking: str


def lines_by_age(
    tweets: Iterable[Born],
    ages: Sequence[timedelta],
    *,
    now: datetime,
    metrics: tuple[str, ...] = METRICS,
) -> LinesByAge:
    """As `at_ages`. It is read first, and then the archive: what is moved in between is in both."""
    born = list(tweets)
    readings = at_ages(born, ages, now=now, metrics=metrics)
    old_months = archived(
        [Asked(one.id, one.at, min(one.at + max(ages), now) + _INSTANT) for one in born]
    )
    runs = sorted(map(Run._make, old_months.rows()), key=itemgetter(0, 1))
    born_at = {one.id: one.at for one in born}
    for id, of_one in groupby(runs, key=attrgetter("tweet_id")):
        old = _at_ages_of(Born(id, born_at[id]), list(of_one), ages, now, metrics)
        readings[id] = _latest([*old, *readings[id]])
    return LinesByAge(readings, old_months.lacking)


def _at_ages_of(
    tweet: Born,
    runs: Sequence[Run],
    ages: Sequence[timedelta],
    now: datetime,
    metrics: tuple[str, ...],
) -> Iterable[CountsAtAge]:
    begin = [run.taken_at for run in runs]
    for age in ages:
        then = tweet.at + age
        if then <= now and (place := bisect_right(begin, then)):
            run = runs[place - 1]
            counts = tuple(getattr(run, metric) for metric in metrics)
            yield CountsAtAge(tweet.id, age, min(run.measured_until, then), counts)


def _latest(readings: Iterable[CountsAtAge]) -> list[CountsAtAge]:
    """At each age the one that was measured last; of two at once, the one that comes last."""
    latest: dict[timedelta, CountsAtAge] = {}
    for reading in readings:
        known = latest.get(reading.age)
        if known is None or known.measured_at <= reading.measured_at:
            latest[reading.age] = reading
    return [latest[age] for age in sorted(latest)]
