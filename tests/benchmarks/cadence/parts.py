"""The comparisons: with room for all, short of X's windows, short of money, after a second wave."""

from __future__ import annotations

from collections.abc import Sequence

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
)
from tests.benchmarks.cadence.compare import (
    Measured,
    Part,
    alone,
    mean_days,
    mean_lookups,
    sought,
)
from tests.benchmarks.cadence.world import DAY, HOUR, Tweet
from trackers.schedule.adapt import Bounds
from trackers.schedule.stretch.solve import MAX_WINDOW_FILL, WINDOW_S

FLEET_SEED = 3
ROOMS = (0.6, 0.3)
# A whole day longer is nothing where a tweet rests on its 30th.
LONGEST_DAYS = 23
# At least every so often, for tweets that come back late.
WATCHFUL = (*AT_LEAST[:3], 12 * HOUR, DAY)


def with_room(name: str, world: Sequence[Tweet], *, others: bool) -> Part:
    """As many look-ups as the fixed rows take, and half; with `others` what else one does."""
    part = Part(name)
    base = alone(world, fixed())
    part.tell("fixed rows", base, base)
    if others:
        part.tell("fixed rows, twice as long", alone(world, fixed(longer=2)), base)
        share = sought(
            lambda share: mean_lookups(world, by_age_alone(share)), base.lookups, 0.01, 0.5
        )
        part.tell(f"{share:.1%} of the age", alone(world, by_age_alone(share)), base)
    part.tell(f"adapts, {ACCURACY:.1%}", alone(world, adaptive()), base)

    accuracy, equal = of_as_many_lookups(world, base.lookups)
    part.tell(f"adapts, {accuracy:.1%}: equal look-ups", equal, base)
    part.judge("equal look-ups", equal, base, ("now", "off", "curve", "tweet-days"))

    twice = [2 * each for each in AT_LEAST]
    accuracy, half = of_as_many_lookups(world, base.lookups / 2, at_least=twice)
    part.tell(f"adapts, {accuracy:.1%}: half the look-ups", half, base)
    part.judge("half the look-ups", half, base, ("now", "tweet-days"))
    return part


def after_second_waves(name: str, world: Sequence[Tweet]) -> Part:
    """Every tweet comes back when nobody expects it: what shorter *at least every* is worth."""
    part = Part(name)
    base = alone(world, fixed())
    part.tell("fixed rows", base, base)
    _, usual = of_as_many_lookups(world, base.lookups)
    part.tell("adapts: equal look-ups", usual, base)
    _, watchful = of_as_many_lookups(world, base.lookups, at_least=WATCHFUL)
    part.tell("adapts, at least every 12 h and 1 d: equal look-ups", watchful, base)
    part.judge("late second waves", watchful, base, ("curve", "now"))
    return part


def of_as_many_lookups(
    world: Sequence[Tweet], wanted: float, *, at_least: Sequence[float] = AT_LEAST
) -> tuple[float, Measured]:
    """The accuracy with which it comes to so many look-ups a tweet."""

    def many(accuracy: float) -> float:
        return mean_lookups(world, adaptive(accuracy, at_least=at_least))

    accuracy = sought(many, wanted, 0.01, 0.5)
    return accuracy, alone(world, adaptive(accuracy, at_least=at_least))


def short_of_windows(name: str, world: Sequence[Tweet], *, births_a_day: int, others: bool) -> Part:
    """A fleet, and room for a part of what the fixed rows ask for; with `others` also the fixed
    rows as the queue treats them."""
    part = Part(name)
    bounds = [Bounds(ACCURACY, *both) for both in zip(AT_MOST, AT_LEAST, strict=True)]

    def together(
        cadence: Cadence,
        room: float,
        adapting: Sequence[Bounds] | None = None,
        *,
        young_first: bool = False,
    ) -> tuple[Measured, float]:
        members = fleet.fleet(world, births_a_day=births_a_day, seed=FLEET_SEED)
        done = fleet.run(members, cadence, room=room, bounds=adapting, young_first=young_first)
        return Measured(done.lookups, done.errors.means(), late=done.late), done.stretch

    enough, _ = together(fixed(), 1e9)
    part.tell("fleet: fixed rows, room for all", enough, enough)
    wanted = enough.lookups / (fleet.MEASURED_DAYS * DAY / WINDOW_S)
    for share in ROOMS:
        room = share * wanted
        tiers, _ = together(fixed(), room)
        # As a person would: until the look-ups fill the windows no further than ours do.
        by_hand, _ = together(fixed(longer=1 / (share * MAX_WINDOW_FILL)), room)
        ours, stretch = together(adaptive(), room, bounds, young_first=True)
        part.tell(f"fleet: fixed rows, room for {share:.0%}", tiers, tiers)
        part.tell("fleet: all rows longer by hand", by_hand, tiers)
        if others:
            served, _ = together(fixed(), room, young_first=True)
            part.tell("fleet: fixed rows, the young first", served, tiers)
            served, _ = together(
                fixed(longer=1 / (share * MAX_WINDOW_FILL)), room, young_first=True
            )
            part.tell("fleet: longer by hand, the young first", served, tiers)
        part.tell(f"fleet: adapts, stretched {stretch:.1f} times", ours, tiers)
        part.judge(f"room for {share:.0%}, of first due first", ours, tiers, ("now", "curve"))
        part.judge(f"room for {share:.0%}, of longer by hand", ours, by_hand, ("now", "curve"))
    return part


def short_of_money(name: str, world: Sequence[Tweet], *, budgets: Sequence[float]) -> Part:
    """For as many tweet-days as the fixed rows have when the oldest wait."""
    part = Part(name)
    wanted = mean_days(world, fixed())
    for budget in budgets:
        left = budget * wanted
        times = sought(lambda m: mean_days(world, rationed(m)), left, 1, 200)
        base = alone(world, rationed(times))
        part.tell(f"money for {budget:.0%}: the oldest look-ups wait", base, base)
        accuracy, stretch = for_so_many_days(world, left)
        ours = alone(world, adaptive(accuracy), day_stretch=stretch)
        later = f"new days {stretch:.1f} times later" if stretch else "with enough for that"
        part.tell(f"money for {budget:.0%}: adapts, {accuracy:.1%}, {later}", ours, base)
        part.judge(f"money for {budget:.0%}", ours, base, ("now", "curve"))
    return part


def for_so_many_days(world: Sequence[Tweet], wanted: float) -> tuple[float, float | None]:
    """The accuracy, and the stretch of new days. If money is left over at the usual accuracy, there
    is none, and a person asks for a finer one."""
    if mean_days(world, adaptive()) <= wanted:
        return sought(lambda a: mean_days(world, adaptive(a)), wanted, 0.01, ACCURACY), None
    return ACCURACY, sought(lambda s: mean_days(world, adaptive(), s), wanted, 1, 50)


def rationed(times: float) -> Cadence:
    """The oldest row waits longer, and when it is not looked at any more, the one before it."""
    *young, week, month = EVERY
    return fixed((*young, week * max(1.0, times * week / DAY), month * min(times, LONGEST_DAYS)))
