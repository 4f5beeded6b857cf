"""Why is a tweet's next look at that time? One sentence, from what decided it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.schedule.adapt import adapted_wait
from trackers.schedule.durations import spell, spell_share
from trackers.schedule.intervals import Tier
from trackers.schedule.paid_days import DAY_S, LATE_S, SPREAD_S

# Allows for due times in whole seconds, rounded up, and for the batch that a look waits for.
TOLERANCE_S = 3.0
# The last looks of a day come within this time of midnight.
LAST_LOOKS_S = LATE_S + SPREAD_S + TOLERANCE_S
# Growth in an hour below this is not visible to a person.
STILL = 0.0005


@dataclass(frozen=True, slots=True)
class Waiting:
    """A tweet that was looked at when `age` seconds old, growing by `pace` a second, and is looked
    at again `wait` seconds after that. `looked_at`: Unix time (s)."""

    age: float
    pace: float
    wait: float
    looked_at: float = 0.0

    @property
    def is_for_another_day(self) -> bool:
        return (self.looked_at + self.wait) // DAY_S > self.looked_at // DAY_S

    @property
    def closes_the_day(self) -> bool:
        left = DAY_S - (self.looked_at + self.wait) % DAY_S
        return not self.is_for_another_day and left + TOLERANCE_S >= LATE_S and left <= LAST_LOOKS_S


@dataclass(frozen=True, slots=True)
class Room:
    """The share of all looks for which X's windows have room, and of all tweet-days that the
    budgets allow; None if it is unknown or unlimited."""

    windows: float | None = None
    money: float | None = None

    @property
    def short_of_money(self) -> bool:
        return self.money is not None and self.money < 1

    def reason(self, *, for_another_day: bool) -> str:
        """Why waits are longer than usual; empty if there is now room for all."""
        short = []
        if self.windows is not None and self.windows < 1:
            short.append(f"X’s windows have room for {self.windows:.0%} of the looks")
        if for_another_day and self.money is not None and self.money < 1:
            short.append(f"the budgets allow {self.money:.0%} of the tweet-days")
        return f", since {' and '.join(short)}" if short else ""


NO_LIMIT = Room()


def why(tier: Tier, waiting: Waiting, *, room: Room = NO_LIMIT) -> str:
    """The reason for the wait, to follow "Next look in 14 min: "."""
    spread = tier.jitter * waiting.wait + TOLERANCE_S
    if tier.bounds is None:
        if abs(waiting.wait - tier.every.total_seconds()) > spread:
            return ELSEWHERE
        return (
            f"tweets younger than {spell(tier.younger_than)} are looked up every "
            f"{spell(tier.every)}."
        )
    usual = adapted_wait(waiting.age, waiting.pace, tier.bounds)
    if waiting.wait < usual - spread:
        return CLOSES if room.short_of_money and waiting.closes_the_day else ELSEWHERE
    if waiting.wait > usual + spread:
        times = f"{waiting.wait / usual:.1f} times as long as usual"
        because = room.reason(for_another_day=waiting.is_for_another_day)
        return f"{moves(waiting)}; the wait is {times}{because}."
    accuracy, at_most, at_least = tier.bounds
    if usual <= at_most:
        return f"{moves(waiting)}, and the shortest interval is {length(at_most)}."
    if usual >= at_least:
        return f"{moves(waiting)}, and the longest interval is {length(at_least)}."
    return f"{moves(waiting)}, and {spell_share(accuracy)} may be missed."


# Where money is short: X bills a tweet once a day, so this look is paid for already.
CLOSES = "it is a last look on a day that is paid for, since money is short."
TOMORROW = "it waits for tomorrow’s money, since today’s is spent."
EVENING = "it waits for what is left of today’s money in the evening."
# The intervals have changed since, a person asked for it, or X has to confirm something.
ELSEWHERE = "it was planned before these figures arrived, or somebody asked for it."


def moves(waiting: Waiting) -> str:
    """How fast it grows, in words."""
    an_hour = waiting.pace * 3600
    if an_hour < STILL:
        return "its figures do not change"
    if an_hour >= 1:
        return f"it grows by {waiting.pace * 60:.0%} a minute"
    return f"it grows by {an_hour:.0%} an hour" if an_hour >= 0.01 else SLOWLY.format(an_hour)


SLOWLY = "it grows by {:.2%} an hour"


def length(seconds: float) -> str:
    return spell(timedelta(seconds=seconds))
