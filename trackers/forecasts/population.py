"""The tweets as a forecast needs them, from the same kind of sample as the estimates of money.

the youngest look-ups, each + a random sample of the older ones ─> cells, and recent arrivals
The number of rows read does not grow with the number of tweets (`updater.needs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import log

from trackers.forecasts.newcomers import Arrivals
from trackers.forecasts.walk import Cell
from trackers.tweets.pace import KNOWN_PACE
from trackers.updater.needs import BORN_MS, COUNTED, DRAWN
from tweetwatch.database import cursor

DAY = timedelta(days=1)
# Below a hundredth only adapt.ALLOWANCE counts.
LEAST_GROWTH = 0.01
# The resolution of due times; a day's forecast needs no finer one.
SLOT_S = 600
# Steps of ages and growths, four for each doubling. Floats take a fortieth of numeric's time.
QUARTERS = 4 / log(2)

AGE = f"greatest((%(now_ms)s - {BORN_MS}) / 1000, 0)::float8"
LAST_AGE = "date_part('epoch', t.measured_until - t.created_at)"
# A tweet that was never looked at is taken to grow like most of its age. The ages of `arrived` are
# those of newcomers.AGES: two steps for each doubling, from a second on.
# LATERAL with a LIMIT: each tweet is found by its primary key, whatever the statistics say.
POPULATION = f"""
    WITH {COUNTED},
    seen AS MATERIALIZED (
        SELECT c.weight, {AGE} AS age, t.measurements > 0 AND t.created_at IS NOT NULL AS is_known,
               t.pace, {LAST_AGE} AS last_age, t.paid_by,
               greatest(date_part('epoch', c.due_at - %(now)s), 0) AS due,
               coalesce(t.paid_on >= %(day)s, false) AS is_paid, t.gone_at IS NOT NULL AS is_gone,
               t.tracked_at
        FROM counted c CROSS JOIN LATERAL (
            SELECT * FROM trackers_tweet WHERE id = c.key LIMIT 1
        ) t
    ),
    grown AS (
        SELECT weight, greatest(age, 1) AS age, due, paid_by, is_paid, is_gone,
               CASE WHEN is_known
                    THEN greatest({KNOWN_PACE.format(pace="pace", age="last_age")}
                                  * greatest(last_age, 1), {LEAST_GROWTH})
                    ELSE 1 / (1 + age / 3600) END AS growth
        FROM seen
    )
    SELECT true, sum(weight), sum(weight * age) / sum(weight),
           exp(sum(weight * ln(growth)) / sum(weight)), sum(weight * due) / sum(weight),
           paid_by, is_paid, is_gone
    FROM grown
    GROUP BY paid_by, is_paid, is_gone, floor({QUARTERS} * ln(age)),
             floor({QUARTERS} * ln(growth)), floor(due / {SLOT_S})
    UNION ALL
    SELECT false, sum(weight), step, 0, 0, NULL, false, false
    FROM (
        SELECT weight, 1 + floor({QUARTERS / 2} * ln(greatest(
                   age - date_part('epoch', %(now)s - tracked_at), 1))) AS step
        FROM seen WHERE tracked_at > %(now)s - interval '1 day'
    ) AS arrived
    GROUP BY step
"""
# Tweets tracked between two times that still have a next look.
CAME = f"""
    WITH {COUNTED}
    SELECT coalesce(sum(c.weight), 0)
    FROM counted c CROSS JOIN LATERAL (
        SELECT tracked_at FROM trackers_tweet WHERE id = c.key LIMIT 1
    ) t
    WHERE t.tracked_at >= %(since)s AND t.tracked_at < %(until)s
"""
# More of the youngest than are counted for money, since this runs every ten minutes, not every one:
# with 100,000 tweets the sample alone would be 1.7 % off in tweet-days, and with 130,000 and these
# counted, 0.9 %.
EXACTLY = 100_000
SAMPLE = {"exactly": EXACTLY, "drawn": DRAWN}


@dataclass(frozen=True, slots=True)
class Population:
    """The tweets with a next look; `arrivals` are those of the last day."""

    cells: list[Cell]
    arrivals: Arrivals


def population(*, now: datetime, day: date) -> Population:
    """All tweets that have a next look. `day`: X's day, for which some are paid already."""
    given = {**SAMPLE, "now": now, "now_ms": now.timestamp() * 1000, "day": day}
    cells: list[Cell] = []
    ages: dict[int, float] = {}
    with cursor() as db:
        for is_cell, tweets, age, growth, due, *rest in db.execute(POPULATION, given):
            if is_cell:
                cells.append(Cell(tweets, age, growth, due, *rest))
            else:
                ages[int(age)] = tweets
    return Population(cells, Arrivals(sum(ages.values()) / DAY.total_seconds(), ages))


def newcomers(since: datetime, until: datetime) -> float:
    with cursor() as db:
        found = db.execute(CAME, {**SAMPLE, "since": since, "until": until}).fetchone()
    assert found is not None
    many: float = found[0]
    return many
