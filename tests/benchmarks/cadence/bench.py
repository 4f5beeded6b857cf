"""How well each cadence knows its tweets, and at what cost; see `docs/how-often.md`.

Pure: the product's own rule over the fake's curves, tweet by tweet, then as a fleet that is short
of X's windows. No database, no process, no clock: the same seed, the same figures.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.benchmarks.cadence import fleet
from tests.benchmarks.cadence.cadences import (
    ACCURACY,
    AT_LEAST,
    AT_MOST,
    EVERY,
    Cadence,
    adaptive,
    by_age_alone,
    fixed,
    looks,
)
from tests.benchmarks.cadence.errors import Errors, days
from tests.benchmarks.cadence.forecast import forecasts
from tests.benchmarks.cadence.world import DAY, Tweet, fakes_world
from tests.benchmarks.results import Bar, Result, Value
from tests.benchmarks.workshop import Workshop
from trackers.schedule.adapt import Bounds
from trackers.schedule.stretch import FILL

TWEETS, LEAST_TWEETS = 240, 24
WORLD_SEED, LOOKS_SEED, FLEET_SEED = 1, 7, 3
ROOMS = (0.6, 0.3)
BUDGETS = (0.5, 0.35, 0.25)
# Halvings of the range in which a cadence of as many looks is sought: to a thousandth.
HALVINGS = 12
# A whole day longer is nothing where a tweet rests on its 30th.
LONGEST_DAYS = 23


@dataclass(frozen=True, slots=True)
class Outcome:
    """Looks and tweet-days a tweet; errors of the curve and of now, share of time that is off."""

    looks: float
    days: float
    curve: float
    now: float
    off: float


def run(shop: Workshop) -> Result:
    many = max(LEAST_TWEETS, min(TWEETS, int(TWEETS * shop.size.scale)))
    shop.say(f"cadence: the curves of {many} tweets")
    world = fakes_world(many, seed=WORLD_SEED)
    shop.say("cadence: tweet by tweet")
    rows, bars = tweet_by_tweet(world)
    shop.say("cadence: short of X's windows")
    more_rows, more_bars = short_of_windows(world)
    shop.say("cadence: short of money")
    money_rows, money_bars = short_of_money(world)
    shop.say("cadence: forecasts at midnight")
    forecast_rows, forecast_bars = forecasts(world)
    return Result(
        name="cadence",
        rows=[*rows, *more_rows, *money_rows, *forecast_rows],
        bars=[*bars, *more_bars, *money_bars, *forecast_bars],
        notes=[
            "now: mean error of the newest look; curve: of the straight line between looks; off: "
            "the share of time in which a figure is off by more than 10 %. Each of the five "
            "default rows counts alike.",
            "Bars are shares of the first row of their part: of the fixed rows; of the fixed rows "
            "with as little room; of the oldest row made longer until the money is enough.",
        ],
    )


def tweet_by_tweet(world: Sequence[Tweet]) -> tuple[list[dict[str, Value]], list[Bar]]:
    base = outcome(world, fixed())

    def half_of(accuracy: float) -> Cadence:
        return adaptive(accuracy, at_least=[2 * each for each in AT_LEAST])

    longer = outcome(world, fixed(longer=2))
    share = sought(lambda share: mean_looks(world, by_age_alone(share)), base.looks, 0.01, 0.5)
    equal = sought(lambda accuracy: mean_looks(world, adaptive(accuracy)), base.looks, 0.01, 0.3)
    half = sought(lambda accuracy: mean_looks(world, half_of(accuracy)), base.looks / 2, 0.01, 0.5)
    at_equal, at_half = outcome(world, adaptive(equal)), outcome(world, half_of(half))
    rows = [
        told("fixed rows", base, base),
        told("fixed rows, twice as long", longer, base),
        told(f"{share:.3f} of the age", outcome(world, by_age_alone(share)), base),
        told(f"adapts, {ACCURACY:.1%}", outcome(world, adaptive()), base),
        told(f"adapts, {equal:.1%}: equal looks", at_equal, base),
        told(f"adapts, {half:.1%}: half the looks", at_half, base),
    ]
    bars = [
        of("equal looks: now", at_equal.now, base.now, 0.58),
        of("equal looks: off", at_equal.off, base.off, 0.25),
        of("equal looks: curve", at_equal.curve, base.curve, 0.86),
        of("equal looks: tweet-days", at_equal.days, base.days, 0.58),
        of("half the looks: now", at_half.now, base.now, 1.05),
        of("half the looks: tweet-days", at_half.days, base.days, 0.37),
    ]
    return rows, bars


def short_of_windows(world: Sequence[Tweet]) -> tuple[list[dict[str, Value]], list[Bar]]:
    bounds = [Bounds(ACCURACY, *both) for both in zip(AT_MOST, AT_LEAST, strict=True)]
    enough = shared(world, fixed(), room=1e9)
    wanted = enough.looks / (fleet.MEASURED_DAYS * DAY / fleet.WINDOW_S)
    rows: list[dict[str, Value]] = [in_fleet("fleet: fixed rows, room for all", enough)]
    bars = []
    for share in ROOMS:
        room = share * wanted
        tiers = shared(world, fixed(), room=room)
        # As a person would: until the looks fill the windows no further than ours do.
        by_hand = shared(world, fixed(longer=1 / (share * FILL)), room=room)
        ours = shared(world, adaptive(), room=room, bounds=bounds)
        rows += [
            in_fleet(f"fleet: fixed rows, room for {share:.0%}", tiers),
            in_fleet("fleet: all rows longer by hand", by_hand),
            in_fleet(f"fleet: adapts, stretched {ours.stretch:.1f} times", ours),
        ]
        curve, now, _ = ours.errors.means()
        tiers_curve, tiers_now, _ = tiers.errors.means()
        hand_curve, hand_now, _ = by_hand.errors.means()
        room_for = f"room for {share:.0%}"
        bars += [
            of(f"{room_for}, of first due first: now", now, tiers_now, 0.12),
            of(f"{room_for}, of first due first: curve", curve, tiers_curve, 0.12),
            of(f"{room_for}, of longer by hand: now", now, hand_now, 0.75),
            of(f"{room_for}, of longer by hand: curve", curve, hand_curve, 0.90),
        ]
    return rows, bars


def short_of_money(world: Sequence[Tweet]) -> tuple[list[dict[str, Value]], list[Bar]]:
    wanted = mean_days(world, fixed())
    rows: list[dict[str, Value]] = []
    bars = []
    for budget in BUDGETS:
        days_left = budget * wanted
        times = sought(lambda m: mean_days(world, rationed(m)), days_left, 1, 200)
        stretch = sought(lambda s: mean_days(world, adaptive(), s), days_left, 1, 50)
        base = outcome(world, rationed(times))
        ours = outcome(world, adaptive(), day_stretch=stretch)
        rows += [
            told(f"money for {budget:.0%}: the oldest look-ups wait", base, base),
            told(f"money for {budget:.0%}: adapts, new days {stretch:.1f} times later", ours, base),
        ]
        if budget == BUDGETS[0]:
            bars += [
                of("half the money: now", ours.now, base.now, 0.65),
                of("half the money: curve", ours.curve, base.curve, 0.92),
            ]
    return rows, bars


def rationed(times: float) -> Cadence:
    """The oldest row waits longer, and when it is not looked at any more, the one before it."""
    *young, week, month = EVERY
    return fixed((*young, week * max(1.0, times * week / DAY), month * min(times, LONGEST_DAYS)))


def shared(
    world: Sequence[Tweet],
    cadence: Cadence,
    *,
    room: float,
    bounds: Sequence[Bounds] | None = None,
) -> fleet.Outcome:
    return fleet.run(fleet.fleet(world, seed=FLEET_SEED), cadence, room=room, bounds=bounds)


def outcome(
    world: Sequence[Tweet], cadence: Cadence, *, day_stretch: float | None = None
) -> Outcome:
    chance = random.Random(LOOKS_SEED)
    errors, many, billed = Errors(), 0, 0
    for tweet in world:
        found = looks(tweet, cadence, chance, day_stretch=day_stretch)
        many += len(found)
        billed += days(tweet, found)
        errors.add(tweet, found)
    return Outcome(many / len(world), billed / len(world), *errors.means())


def mean_looks(world: Sequence[Tweet], cadence: Cadence) -> float:
    chance = random.Random(LOOKS_SEED)
    return sum(len(looks(tweet, cadence, chance)) for tweet in world) / len(world)


def mean_days(world: Sequence[Tweet], cadence: Cadence, day_stretch: float | None = None) -> float:
    chance = random.Random(LOOKS_SEED)
    return sum(
        days(tweet, looks(tweet, cadence, chance, day_stretch=day_stretch)) for tweet in world
    ) / len(world)


def sought(cost: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """The argument with that cost, which falls as the argument grows."""
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        if cost(middle) > wanted:
            low = middle
        else:
            high = middle
    return high


def of(name: str, measured: float, base: float, bound: float) -> Bar:
    return Bar(name, measured / base if base else None, bound, "at most")


def told(name: str, one: Outcome, base: Outcome) -> dict[str, Value]:
    return {
        "cadence": name,
        "looks": one.looks,
        "tweet-days": one.days,
        **errors_told((one.curve, one.now, one.off)),
        "curve ×": one.curve / base.curve,
        "now ×": one.now / base.now,
        "off ×": one.off / base.off,
    }


def in_fleet(name: str, one: fleet.Outcome) -> dict[str, Value]:
    return {
        "cadence": name,
        "looks": one.looks,
        **errors_told(one.errors.means()),
        "first row late s": one.late,
    }


def errors_told(means: Iterable[float]) -> dict[str, Value]:
    curve, now, off = (100 * error for error in means)
    return {"curve %": curve, "now %": now, "off %": off}
