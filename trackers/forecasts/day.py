"""Look-ups and tweet-days for the rest of today and for tomorrow. Pure.

tweets by age and growth ─ walk ─┐
those of the last day ─ curve ───┼─ room, money ─> two Days: the rest of today, and tomorrow
arrivals ────────────────────────┘
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from trackers.forecasts.newcomers import Arrivals, curve
from trackers.forecasts.walk import Cell, IntervalRow, walk, walk_gone
from trackers.schedule.paid_days import DAY_S


@dataclass(frozen=True, slots=True)
class Known:
    """The input: the tweets, the rules for looking at them, and the new tweets to expect."""

    cells: Sequence[Cell]
    rows: Sequence[IntervalRow]
    arrivals: Arrivals
    stretch: float = 1.0
    day_stretch: float = 1.0
    gone_every: float = DAY_S
    room: float | None = None  # look-ups a second that X's windows allow; None: unknown
    # Tweet-days that each project may still spend today and tomorrow; None: no limit.
    left: Mapping[int, tuple[float | None, float | None]] = field(default_factory=dict)
    lookups_correction: float = 1.0  # as the next, multiplies what the walk finds (`learn`)
    days_correction: float = 1.0


@dataclass(frozen=True, slots=True)
class Day:
    """A forecast for the tweets known now, and for those that arrive before the day is over."""

    known_lookups: float
    new_lookups: float
    known_days: float
    new_days: float
    newcomers: float
    # Tweet-days by project; only projects with a credential.
    projects: Mapping[int, float] = field(default_factory=dict)
    # The same, had the budgets room for all.
    unlimited: Mapping[int, float] = field(default_factory=dict)

    @property
    def lookups(self) -> float:
        return self.known_lookups + self.new_lookups

    @property
    def tweet_days(self) -> float:
        return self.known_days + self.new_days


def to_midnight(now: datetime) -> float:
    """Seconds until the UTC day ends."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=1) - now).total_seconds()


def foresee(known: Known, *, to_midnight: float) -> tuple[Day, Day]:
    """The rest of today, which ends in `to_midnight` seconds, and tomorrow."""
    ends = (to_midnight, to_midnight + DAY_S)
    walked = [(cell, lookups_of(cell, known, ends, midnight=to_midnight)) for cell in known.cells]
    come = curve(known.cells, known.rows, stretch=known.stretch)
    days = []
    since = 0.0
    for place, until in enumerate(ends):
        period = {"come_for": until, "since": since, "until": until}
        days.append(
            _limited(
                [(cell, lookups[place]) for cell, lookups in walked],
                known,
                place,
                new_lookups=known.arrivals.lookups(come, **period),
                new_days=known.arrivals.days(come, **period),
                lasts=until - since,
            )
        )
        since = until
    return days[0], days[1]


def lookups_of(cell: Cell, known: Known, ends: Sequence[float], *, midnight: float) -> list[float]:
    """Of one of these tweets, up to each of these times (s), as in `walk`."""
    if cell.is_gone:
        return walk_gone(cell, known.gone_every, ends)
    return walk(
        cell,
        known.rows,
        ends,
        stretch=known.stretch,
        day_stretch=known.day_stretch,
        midnight=midnight,
    )


def _limited(
    walked: Sequence[tuple[Cell, float]],
    known: Known,
    place: int,
    *,
    new_lookups: float,
    new_days: float,
    lasts: float,
) -> Day:
    """The part that money and windows allow. When money is short, the oldest tweets wait."""
    left = {project: both[place] for project, both in known.left.items()}
    money = sum(one for one in left.values() if one is not None)
    if not left or None in left.values():
        money = float("inf")
    lookups = days = 0.0
    new_lookups *= known.lookups_correction
    paid_days: dict[int | None, float] = defaultdict(float)
    all_days: dict[int | None, float] = defaultdict(float)
    paid_new = min(new_days, money)
    money -= paid_new
    for cell, each in sorted(walked, key=lambda one: one[0].age):
        if not each:
            continue
        asked = cell.tweets * each * known.lookups_correction
        if cell.is_gone or (cell.is_paid and place == 0):
            lookups += asked
            continue
        # X bills a tweet once a day, however often it is looked at.
        costs = cell.tweets * known.days_correction
        paid = min(costs, money)
        money -= paid
        days += paid
        lookups += asked * (paid / costs)
        paid_days[cell.payer] += paid
        all_days[cell.payer] += costs
    new_lookups *= paid_new / new_days if new_days else 1.0
    if known.room is not None and lookups + new_lookups > (most := known.room * lasts):
        share = most / (lookups + new_lookups)
        lookups, new_lookups = lookups * share, new_lookups * share
    newcomers = known.arrivals.a_second * lasts
    return Day(
        lookups,
        new_lookups,
        days,
        paid_new,
        newcomers,
        _by_project(paid_days, paid_new, left),
        _by_project(all_days, new_days, dict.fromkeys(left)),
    )


def _by_project(
    by_payer: Mapping[int | None, float], new: float, left: Mapping[int, float | None]
) -> dict[int, float]:
    """Tweets without a payer are shared out evenly: among the projects without a budget, if there
    are any. Each project pays what it has money for."""
    homeless = new + sum(days for payer, days in by_payer.items() if payer not in left)
    sharing = [project for project, rest in left.items() if rest is None] or list(left)
    days_by_project = {}
    for project, rest in left.items():
        days = by_payer.get(project, 0.0)
        if project in sharing:
            days += homeless / len(sharing)
        days_by_project[project] = days if rest is None else min(days, rest)
    return days_by_project
