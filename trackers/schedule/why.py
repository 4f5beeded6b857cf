"""Why is a tweet looked at next when it is? One sentence, from what decided it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.schedule.adapt import adapted_wait
from trackers.schedule.durations import spell, spell_share
from trackers.schedule.intervals import Tier

# Of due times, which are whole seconds, rounded up; and of the batch that a look waits for.
TOLERANCE_S = 3.0
# Below this growth in an hour a person sees nothing move.
STILL = 0.0005


@dataclass(frozen=True, slots=True)
class Waiting:
    """A tweet that was looked at when `age` seconds old, growing by `pace` a second, and is looked
    at again `wait` seconds after that."""

    age: float
    pace: float
    wait: float


def why(tier: Tier, waiting: Waiting, *, room: float | None = None) -> str:
    """The reason for the wait, to follow "Next look in 14 min: ".

    `room`: the share of all looks that X's windows have room for, where it is known.
    """
    spread = tier.jitter * waiting.wait + TOLERANCE_S
    if tier.bounds is None:
        if abs(waiting.wait - tier.every.total_seconds()) > spread:
            return ELSEWHERE
        return (
            f"tweets younger than {spell(tier.younger_than)} are looked at every "
            f"{spell(tier.every)}."
        )
    usual = adapted_wait(waiting.age, waiting.pace, tier.bounds)
    if waiting.wait < usual - spread:
        return ELSEWHERE
    if waiting.wait > usual + spread:
        times = f"{waiting.wait / usual:.1f} times as long as usual"
        if room is None or room >= 1:
            return f"{moves(waiting)}; the wait is {times}."
        return f"{moves(waiting)}; the wait is {times}, since X’s windows have room for {room:.0%}."
    accuracy, at_most, at_least = tier.bounds
    if usual <= at_most:
        return f"{moves(waiting)}, and this row looks at most every {length(at_most)}."
    if usual >= at_least:
        return f"{moves(waiting)}, and this row looks at least every {length(at_least)}."
    return f"{moves(waiting)}, and {spell_share(accuracy)} may be missed."


# The intervals have changed since, a person asked for it, or X has to confirm something.
ELSEWHERE = "it was planned before these figures came, or somebody asked for it."


def moves(waiting: Waiting) -> str:
    """How fast it grows, in words."""
    an_hour = waiting.pace * 3600
    if an_hour < STILL:
        return "nothing moves"
    if an_hour >= 1:
        return f"it grows by {waiting.pace * 60:.0%} a minute"
    return f"it grows by {an_hour:.0%} an hour" if an_hour >= 0.01 else SLOWLY.format(an_hour)


SLOWLY = "it grows by {:.2%} an hour"


def length(seconds: float) -> str:
    return spell(timedelta(seconds=seconds))
