"""The checks of the next hour, minute by minute: the rule walked ahead.

a sample of the queue ─> population ─> foresee_minutes ─> one row ─> the overview
A cluster does this once a minute, for as many rows however many tweets there are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from trackers.forecasts.day import Known, lookups_of, to_midnight
from trackers.forecasts.inputs import read_known
from trackers.forecasts.models import ForecastHour
from trackers.forecasts.newcomers import curve
from trackers.forecasts.population import SAMPLE_FOR_HOUR
from trackers.jobs.statistics import DATABASE_NOW
from trackers.schedule.intervals import Plan

# A few more than an hour has, so that a row of some minutes ago still covers one.
MINUTES_AHEAD = 64
_MINUTE_S = 60.0
_TAKEN_EVERY = timedelta(minutes=1)
# The pause after a run, as a multiple of the time that it took: a tenth of a core at most.
_PAUSE_FACTOR = 10
# An older row is from a cluster that has ended.
_FRESH_FOR = timedelta(minutes=3)
NOT_YET = "Not known: a running qcluster works it out once a minute."


@dataclass(frozen=True, slots=True)
class MinuteAhead:
    at: datetime
    known: float  # checks of tweets that are known
    new: float  # of tweets that come meanwhile


@dataclass(frozen=True, slots=True)
class NextHour:
    minutes: Sequence[MinuteAhead]  # empty where nothing is expected
    why: str = ""


def foresee_minutes(
    known: Known, *, second: float, to_midnight: float
) -> list[tuple[float, float]]:
    """Checks of known tweets and of those to come, by minute of the clock. `second`: how much of
    the first one has passed.

    What does not fit into X's windows is made in the minutes that follow. Budgets are left out:
    what waits for money is due tomorrow.
    """
    ends = [_MINUTE_S * (place + 1) - second for place in range(MINUTES_AHEAD)]
    of_known = [0.0] * MINUTES_AHEAD
    for cell in known.cells:
        if cell.due < ends[-1]:
            for place, lookups in enumerate(lookups_of(cell, known, ends, midnight=to_midnight)):
                of_known[place] += cell.tweets * lookups
    come = curve(known.cells, known.rows, stretch=known.stretch)
    of_new = []
    since = 0.0
    for end in ends:
        lasts, middle = end - since, (since + end) / 2
        of_new.append(lasts * known.arrivals.lookups_around(come, middle))
        since = end
    return list(_fitted(of_known, of_new, known.room, second))


def _fitted(
    of_known: Sequence[float], of_new: Sequence[float], room: float | None, second: float
) -> Iterator[tuple[float, float]]:
    waiting_known = waiting_new = 0.0
    for place, (wanted_known, wanted_new) in enumerate(zip(of_known, of_new, strict=True)):
        waiting_known += wanted_known
        waiting_new += wanted_new
        waiting, share = waiting_known + waiting_new, 1.0
        if room is not None and waiting:
            lasts = _MINUTE_S - (second if place == 0 else 0.0)
            share = min(1.0, room * lasts / waiting)
        yield waiting_known * share, waiting_new * share
        waiting_known, waiting_new = waiting_known * (1 - share), waiting_new * (1 - share)


def next_hour(*, now: datetime) -> NextHour:
    """What a cluster last worked out, from the minute of `now` on."""
    row = ForecastHour.objects.filter(pk=ForecastHour.ONLY).first()
    if (
        row is None
        or row.taken_at is None
        or now - row.taken_at > max(_FRESH_FOR, 2 * _PAUSE_FACTOR * row.took)
    ):
        return NextHour((), NOT_YET)
    first, begins = _minute_of(row.taken_at), _minute_of(now)
    minutes = [
        MinuteAhead(first + place * _TAKEN_EVERY, *both)
        for place, both in enumerate(zip(row.known, row.new, strict=True))
    ]
    ends = begins + timedelta(hours=1)
    return NextHour([one for one in minutes if begins <= one.at < ends], row.why)


def record_hour(plan: Plan, *, now: datetime, gone_every: timedelta) -> bool:
    """Work it out for all readers; False if another cluster does, or it was done just now."""
    last, _ = ForecastHour.objects.get_or_create(pk=ForecastHour.ONLY)
    # Half a minute early: a task that is started once a minute is not there to the second.
    pause = max(_TAKEN_EVERY / 2, _PAUSE_FACTOR * last.took)
    with transaction.atomic():
        # Lock: this row alone. Skip it if it is locked: another cluster is at it.
        row = (
            ForecastHour.objects.select_for_update(skip_locked=True)
            .filter(Q(taken_at=None) | Q(taken_at__lte=DATABASE_NOW - pause), pk=ForecastHour.ONLY)
            .first()
        )
        if row is None:
            return False
        began = time.monotonic()
        known, row.why = read_known(
            plan,
            SAMPLE_FOR_HOUR,
            now=now,
            gone_every=gone_every,
            finely=MINUTES_AHEAD * _TAKEN_EVERY,
        )
        minutes: list[tuple[float, float]] = []
        if known is not None:
            minutes = foresee_minutes(
                known,
                second=(now - _minute_of(now)).total_seconds(),
                to_midnight=to_midnight(now),
            )
        row.known, row.new = [one for one, _ in minutes], [one for _, one in minutes]
        row.taken_at, row.took = now, timedelta(seconds=time.monotonic() - began)
        row.save()
    return True


def _minute_of(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)
