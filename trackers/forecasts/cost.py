"""What a list of intervals asks of tomorrow: the forecast of a day, as if nothing limited it.

a sample of the queue ─> Known ─┬─ the current rows ─> foresee ─> Cost ─┐
                                └─ the new rows ─────> foresee ─> Cost ─┴─> CostChange
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from trackers.forecasts.day import Known, foresee
from trackers.forecasts.walk import Cell, IntervalRow, interval_rows, row_at, wait_at
from trackers.schedule.adapt import adapted_wait
from trackers.schedule.census import CENSUS_AGES
from trackers.schedule.intervals import Plan
from trackers.tweets.pace import strangers_pace

# A change that costs more than this many times as much must be confirmed.
_CONFIRMED_ABOVE = 2.0
# The factor between steps of age, where waits change with age.
_AGE_STEP = 1.05


@dataclass(frozen=True, slots=True)
class Cost:
    """Of tomorrow, except `life`. X bills a tweet once a day, however often it is looked up."""

    life: float  # look-ups of one tweet in all
    lookups: float
    tweet_days: float
    money: Decimal  # US dollars


@dataclass(frozen=True, slots=True)
class CostChange:
    before: Cost
    after: Cost

    @property
    def times(self) -> float:
        """How many times as much it costs, by the number that grows most."""
        pairs = [
            (self.before.life, self.after.life),
            (self.before.lookups, self.after.lookups),
            (self.before.tweet_days, self.after.tweet_days),
        ]
        return max((after / before for before, after in pairs if before), default=1.0)

    @property
    def is_large(self) -> bool:
        return self.times > _CONFIRMED_ABOVE


def cost(
    plan: Plan,
    known: Known,
    prices: Mapping[int | None, Decimal],
    *,
    to_midnight: float,
    ages: Sequence[int] | None = None,
) -> Cost:
    """Of this plan, for the tweets that are known and those to come; each already planned by it.

    `prices`: of a tweet-day, by the project that pays; None: of one without a project. `ages`: the
    census, for tweets that rest by the known rows and would be looked up again.
    """
    rows = interval_rows(plan)
    cells = [_as_planned(cell, known.rows, rows) for cell in known.cells]
    cells += _woken(ages, known.rows, rows)
    left: dict[int, tuple[None, None]] = {one: (None, None) for one in prices if one is not None}
    by_plan = replace(known, cells=cells, rows=rows, left=left)
    _, tomorrow = foresee(by_plan, to_midnight=to_midnight)
    posts: list[tuple[int | None, float]] = list(tomorrow.projects.items())
    money = sum(
        Decimal(round(days)) * prices[payer]
        for payer, days in posts or [(None, tomorrow.tweet_days)]
    )
    return Cost(lookups_of_life(rows), tomorrow.lookups, tomorrow.tweet_days, Decimal(money))


def _as_planned(cell: Cell, before: Sequence[IntervalRow], after: Sequence[IntervalRow]) -> Cell:
    """Its next look-up comes after the same share of its wait."""
    old, new = row_at(cell.age, before), row_at(cell.age, after)
    if cell.is_gone or old is None or new is None or old == new:
        return cell
    waits = [wait_at(cell.age, cell.growth, row, 1.0) for row in (old, new)]
    return cell._replace(due=cell.due * waits[1] / waits[0])


def _woken(
    ages: Sequence[int] | None, before: Sequence[IntervalRow], after: Sequence[IntervalRow]
) -> Iterator[Cell]:
    """Tweets that are too old for the old rows, and not for the new ones."""
    since, until = before[-1].below, after[-1].below
    for (least, most), count in zip(pairwise(CENSUS_AGES), ages or (), strict=False):
        first, last = max(least.total_seconds(), since), min(most.total_seconds(), until)
        if count and first < last:
            age = (first + last) / 2
            tweets = count * (last - first) / (most - least).total_seconds()
            growth = strangers_pace(age) * age
            if (row := row_at(age, after)) is not None:
                yield Cell(tweets, age, growth, wait_at(age, growth, row, 1.0) / 2)


def lookups_of_life(rows: Sequence[IntervalRow]) -> float:
    """Of one tweet that grows like most."""
    since, life = 0.0, 0.0
    for below, every, asked in rows:
        if asked is None:
            life += (below - since) / every
        else:
            age = max(since, 1.0)
            while age < below:
                step = min(age * (_AGE_STEP - 1), below - age)
                life += step / adapted_wait(age, strangers_pace(age), asked)
                age += step
        since = below
    return life
