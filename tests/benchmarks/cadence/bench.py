"""How well each cadence knows its tweets, and at what cost; see `docs/how-often.md`.

Pure: the product's own rule over the curves of the fake X, and of worlds that it was not made in;
tweet by tweet, then as a fleet that is short of X's windows. No database, no process, no clock: the
same seed, the same figures.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tests.benchmarks.cadence import parts, worlds
from tests.benchmarks.cadence.compare import Part
from tests.benchmarks.cadence.first_day import first_days
from tests.benchmarks.cadence.forecast import forecasts
from tests.benchmarks.cadence.world import SECOND_WAVES, Tweet, fakes_world
from tests.benchmarks.results import Bar, Result, Spread, Value
from tests.benchmarks.workshop import Size, Workshop

WORLD_SEED, UNSEEN_SEED = 1, 2
TWEETS, UNSEEN_TWEETS, LEAST_TWEETS = 240, 120, 24
# Of a fleet: with fewer, a window has room for so few look-ups that chance decides who waits.
BIRTHS_A_DAY, FORESEEN_BIRTHS = 120, 1500
BUDGETS = (0.5, 0.35, 0.25)
FAKES, UNSEEN, WAVES = "the fake's", "not seen before", "late second waves"

Ratios = dict[str, float | None]

# The most of what it is compared with: in the fake's world, in any that the rule was not made in.
BARS = {
    "equal look-ups: now": (0.58, 0.63),
    "equal look-ups: off": (0.25, 0.45),
    "equal look-ups: curve": (0.86, 0.88),
    "equal look-ups: tweet-days": (0.58, 0.67),
    "half the look-ups: now": (1.05, 1.20),
    "half the look-ups: tweet-days": (0.37, 0.44),
    "room for 60%, of first due first: now": (0.12, 0.12),
    "room for 60%, of first due first: curve": (0.12, 0.12),
    "room for 60%, of longer by hand: now": (0.75, 0.80),
    "room for 60%, of longer by hand: curve": (0.90, 0.95),
    "room for 30%, of first due first: now": (0.12, 0.12),
    "room for 30%, of first due first: curve": (0.12, 0.12),
    "room for 30%, of longer by hand: now": (0.75, 0.80),
    "room for 30%, of longer by hand: curve": (0.90, 0.95),
    "money for 50%: now": (0.65, 0.65),
    "money for 50%: curve": (0.92, 0.92),
}
WAVES_BARS = {"late second waves: curve": 1.0, "late second waves: now": 0.8}
NOTES = (
    "now: mean error of the newest look-up; curve: of the straight line between look-ups; off: "
    "the share of time in which a figure is off by more than 10%. Each of the five default rows "
    "counts alike.",
    "× and bars are shares: of the fixed rows; with little room, of the fixed rows with as little, "
    "or made longer by hand; with little money, of the oldest row made longer until it is enough.",
    "With little room, fixed rows are compared as they fall due; those served with the young first "
    "and the others evenly, as the queue does it, are told only, and adapting rows are served so.",
    "Bars of worlds not seen before are judged by the worst of them. Worlds in which all tweets "
    "do what few do (jump, burn slowly) are told only.",
)


@dataclass(frozen=True, slots=True)
class Extent:
    """How many tweets are drawn of each world, and how many of a fleet are born a day:
    of those that share windows, and of those that are foreseen."""

    tweets: int
    unseen_tweets: int
    births: int
    foreseen_births: int
    unseen: Sequence[str]
    extremes: Sequence[str]


def extent(size: Size) -> Extent:
    if size.is_smoke:
        return Extent(6, 6, 2, 100, list(worlds.UNSEEN)[:1], ())

    def many(full: int) -> int:
        return max(LEAST_TWEETS, min(full, int(full * size.scale)))

    unseen, extremes = list(worlds.UNSEEN), list(worlds.EXTREMES)
    return Extent(
        many(TWEETS), many(UNSEEN_TWEETS), BIRTHS_A_DAY, FORESEEN_BIRTHS, unseen, extremes
    )


def run(shop: Workshop) -> Result:
    # Millions of look-ups are kept, and none of them in a cycle: a collection would walk them all.
    gc.disable()
    try:
        return judged(shop)
    finally:
        gc.enable()


def judged(shop: Workshop) -> Result:
    wanted = extent(shop.size)
    shop.say(f"cadence: {FAKES} world, {wanted.tweets} tweets")
    world = fakes_world(wanted.tweets, seed=WORLD_SEED)
    ours = list(in_world(FAKES, world, births=wanted.births, budgets=BUDGETS, others=True))
    shop.say("cadence: forecasts at midnight")
    forecast_rows, forecast_bars = forecasts(world, births_a_day=wanted.foreseen_births)
    shop.say("cadence: forecasts of first days")
    first_rows, first_bars = first_days(world, births_a_day=wanted.foreseen_births)
    by_world: dict[str, list[Part]] = {}
    for name in wanted.unseen:
        shop.say(f"cadence: {name}, {wanted.unseen_tweets} tweets")
        world = worlds.world(name, wanted.unseen_tweets, seed=UNSEEN_SEED)
        by_world[name] = list(in_world(name, world, births=wanted.births))
    shop.say(f"cadence: {WAVES}, {wanted.unseen_tweets} tweets")
    world = fakes_world(wanted.unseen_tweets, seed=WORLD_SEED, shares=SECOND_WAVES)
    report = [parts.after_second_waves(WAVES, world)]
    for name in wanted.extremes:
        world = worlds.world(name, wanted.unseen_tweets, seed=UNSEEN_SEED)
        report.append(parts.with_room(name, world, others=False))

    parted = [*ours, *chain(*by_world.values()), *report]
    known = ratios(ours)
    unseen = {name: ratios(found) for name, found in by_world.items()}
    return Result(
        name="cadence",
        rows=with_all_columns(
            [row for part in parted for row in part.rows] + forecast_rows + first_rows
        ),
        spreads=[spread(name, unseen) for name in BARS],
        bars=[
            *(at_most(name, [known[name]], most) for name, (most, _) in BARS.items()),
            *(
                at_most(f"{UNSEEN}, {name}", [one[name] for one in unseen.values()], most)
                for name, (_, most) in BARS.items()
            ),
            *(at_most(name, [report[0].ratios[name]], most) for name, most in WAVES_BARS.items()),
            *forecast_bars,
            *first_bars,
        ],
        notes=[*NOTES, *(between(name, unseen) for name in BARS)],
    )


def in_world(
    name: str,
    world: Sequence[Tweet],
    *,
    births: int,
    budgets: Sequence[float] = BUDGETS[:1],
    others: bool = False,
) -> Iterator[Part]:
    yield parts.with_room(name, world, others=others)
    yield parts.short_of_windows(name, world, births_a_day=births, others=others)
    yield parts.short_of_money(name, world, budgets=budgets)


def with_all_columns(rows: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def ratios(found: Sequence[Part]) -> Ratios:
    return {name: ratio for part in found for name, ratio in part.ratios.items()}


def at_most(name: str, found: Sequence[float | None], most: float) -> Bar:
    """Judged by the worst. Not met by what cannot be said, since there is nothing to compare."""
    known = [one for one in found if one is not None]
    return Bar(name, max(known) if len(known) == len(found) else None, most, "at most")


def spread(name: str, unseen: Mapping[str, Ratios]) -> Spread:
    return Spread(f"{UNSEEN}, {name}", tuple(one[name] or 0.0 for one in unseen.values()))


def between(name: str, unseen: Mapping[str, Ratios]) -> str:
    told = sorted((one[name] or 0.0, world) for world, one in unseen.items())
    (least, first), (most, last) = told[0], told[-1]
    return f"{UNSEEN}, {name}: {least:.3f} ({first}) to {most:.3f} ({last})"
