"""The tweets as a forecast needs them, from the same kind of sample as the estimates of money.

the youngest look-ups, each + a random sample of the older ones ─> cells, and recent arrivals
The number of rows read does not grow with the number of tweets (`updater.needs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import log
from typing import NamedTuple

from trackers.forecasts.newcomers import Arrivals
from trackers.forecasts.walk import Cell
from trackers.updater.needs import BORN_MS, COUNTED, COUNTED_EXACTLY, MAX_SAMPLE
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_DAY_LENGTH = timedelta(days=1)
# Below a hundredth only adapt.ALLOWANCE counts.
_LEAST_GROWTH = 0.01
# The resolution of due times beyond the first hour; a day's forecast needs no finer one at all.
_SLOT_S = 600
# Steps of ages and growths, four for each doubling. Floats take a fortieth of numeric's time.
_QUARTERS = 4 / log(2)

_POPULATION = statement(
    __file__,
    "population",
    counted=COUNTED,
    born_ms=BORN_MS,
    least_growth=_LEAST_GROWTH,
    quarters=_QUARTERS,
    slot_s=_SLOT_S,
)
_CAME = statement(__file__, "came", counted=COUNTED, born_ms=BORN_MS)
# More of the youngest than are counted for money, since this runs every ten minutes, not every one:
# with 100,000 tweets the sample alone would be 1.7 % off in tweet-days, and with 130,000 and these
# counted, 0.9 %.
EXACTLY = 100_000
SAMPLE_FOR_DAYS = {"exactly": EXACTLY, "drawn": MAX_SAMPLE}
# For people who ask what other intervals would bring, and wait for it.
SAMPLE_FOR_COST = {"exactly": 10_000, "drawn": 10_000}
# For the next hour, each minute: as many as are counted for money.
SAMPLE_FOR_HOUR = {"exactly": COUNTED_EXACTLY, "drawn": MAX_SAMPLE}


@dataclass(frozen=True, slots=True)
class Population:
    """The tweets with a next look-up."""

    cells: list[Cell]
    arrivals: Arrivals


def population(
    sample: Mapping[str, int],
    *,
    now: datetime,
    day: date,
    lasts: timedelta,
    finely: timedelta = timedelta(0),
) -> Population:
    """All tweets that have a next look-up. `day`: X's day, for which some are paid already.
    `lasts`: the age at which tweets rest. `finely`: for how long due times matter to the minute."""
    params = {
        **sample,
        "now": now,
        "now_ms": now.timestamp() * 1000,
        "day": day,
        "lately": min(_DAY_LENGTH, lasts).total_seconds(),
        "finely": finely.total_seconds(),
        "second": now.second + now.microsecond / 1e6,
    }
    cells: list[Cell] = []
    ages: dict[int, float] = {}
    with cursor() as db:
        for is_cell, tweets, age, growth, due, *rest in db.execute(_POPULATION, params):
            if is_cell:
                cells.append(Cell(tweets, age, growth, due, *rest))
            else:
                ages[int(age)] = tweets
    return Population(cells, Arrivals(sum(ages.values()), ages))


class Came(NamedTuple):
    """Tweets that were tracked on a day: as a forecast can expect them, and not."""

    newcomers: float
    others: float  # of first polls and backfills


def came(since: datetime, until: datetime) -> Came:
    with cursor() as db:
        row = db.execute(_CAME, {**SAMPLE_FOR_DAYS, "since": since, "until": until}).fetchone()
    assert row is not None
    return Came(*row)
