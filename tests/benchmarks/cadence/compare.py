"""What a cadence costs and how well it knows its tweets, beside another one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.cadence.cadences import Cadence, lookups
from tests.benchmarks.cadence.errors import Errors, days
from tests.benchmarks.cadence.world import Tweet
from tests.benchmarks.results import Value

LOOKS_SEED = 7
# Halvings of the range in which a cadence of as many look-ups is sought: to half a percent.
HALVINGS = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """Look-ups and tweet-days a tweet; errors of the curve and of now, share of time that is off.

    Of a fleet, all its look-ups, and by how many seconds those of the first row were late.
    """

    lookups: float
    errors: tuple[float, float, float]
    days: float | None = None
    late: float | None = None


@dataclass(slots=True)
class Part:
    """One comparison in one world: lines of the table, and the ratios that have a bar, by name."""

    world: str
    rows: list[dict[str, Value]] = field(default_factory=list)
    ratios: dict[str, float | None] = field(default_factory=dict)

    def tell(self, cadence: str, measured: Measured, base: Measured) -> None:
        curve, now, off = (100 * error for error in measured.errors)
        shares = [ratio(*both) for both in zip(measured.errors, base.errors, strict=True)]
        self.rows.append(
            {
                "world": self.world,
                "cadence": cadence,
                "look-ups": measured.lookups,
                "tweet-days": measured.days,
                "curve %": curve,
                "now %": now,
                "off %": off,
                "curve ×": shares[0],
                "now ×": shares[1],
                "off ×": shares[2],
                "first row late s": measured.late,
            }
        )

    def judge(self, what: str, measured: Measured, base: Measured, names: Sequence[str]) -> None:
        """Keep what one has of the other: of now, curve, off, tweet-days."""
        (curve, now, off), (base_curve, base_now, base_off) = measured.errors, base.errors
        pairs = {
            "now": (now, base_now),
            "curve": (curve, base_curve),
            "off": (off, base_off),
            "tweet-days": (measured.days or 0.0, base.days or 0.0),
        }
        for name in names:
            self.ratios[f"{what}: {name}"] = ratio(*pairs[name])


def ratio(one: float, base: float) -> float | None:
    return one / base if base else None


def alone(
    world: Sequence[Tweet], cadence: Cadence, *, day_stretch: float | None = None
) -> Measured:
    """Tweet by tweet: there is room for all look-ups."""
    chance = random.Random(LOOKS_SEED)
    errors, many, billed = Errors(), 0, 0
    for tweet in world:
        found = lookups(tweet, cadence, chance, day_stretch=day_stretch)
        many += len(found)
        billed += days(tweet, found)
        errors.add(tweet, found)
    return Measured(many / len(world), errors.means(), billed / len(world))


def mean_lookups(world: Sequence[Tweet], cadence: Cadence) -> float:
    chance = random.Random(LOOKS_SEED)
    return sum(len(lookups(tweet, cadence, chance)) for tweet in world) / len(world)


def mean_days(world: Sequence[Tweet], cadence: Cadence, day_stretch: float | None = None) -> float:
    chance = random.Random(LOOKS_SEED)
    return sum(
        days(tweet, lookups(tweet, cadence, chance, day_stretch=day_stretch)) for tweet in world
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
