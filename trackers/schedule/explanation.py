"""Why is a tweet's next check at that time? One sentence, from what decided it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH, adapted_wait
from trackers.schedule.durations import spell_share, spoken, spoken_after_every
from trackers.schedule.intervals import Tier
from trackers.schedule.paid_days import DAY_S, LATE_S, SPREAD_S

# Allows for due times in whole seconds, rounded up, and for the batch that a look-up waits for.
TOLERANCE_S = 3.0
# The last checks of a day come within this time of midnight.
_CLOSES_DAY_S = LATE_S + SPREAD_S + TOLERANCE_S
# Growth in an hour below this is not visible to a person.
_HARDLY_GROWS = 0.0005


@dataclass(frozen=True, slots=True)
class ExplainedWait:
    """A tweet that was looked up, and waits."""

    age: float  # seconds, at the look-up
    pace: float  # growth per second
    wait: float  # seconds until the next
    looked_at: float = 0.0  # Unix time (s)

    @property
    def is_for_another_day(self) -> bool:
        return (self.looked_at + self.wait) // DAY_S > self.looked_at // DAY_S

    @property
    def closes_the_day(self) -> bool:
        left = DAY_S - (self.looked_at + self.wait) % DAY_S
        return (
            not self.is_for_another_day and left + TOLERANCE_S >= LATE_S and left <= _CLOSES_DAY_S
        )


@dataclass(frozen=True, slots=True)
class StretchesThen:
    """The stretches by which the look-up was planned, 1 where there was room or money for all."""

    windows: float = 1.0
    money: float = 1.0
    # The share of all look-ups for which X's windows have room, and `days`, of all tweet-days that
    # the budgets allow; None where that is unknown, or has changed since.
    lookups: float | None = None
    days: float | None = None

    def reason(self, *, by_windows: bool, by_money: bool) -> str:
        """Why a wait is longer than usual."""
        short = []
        if by_windows:
            short.append(
                "X's windows had too little room"
                if self.lookups is None
                else f"X's windows have room for {self.lookups:.0%} of the look-ups"
            )
        if by_money:
            short.append(
                "the budgets were short"
                if self.days is None
                else f"the budgets allow {self.days:.0%} of the tweet-days"
            )
        return " and ".join(short)


NOT_STRETCHED = StretchesThen()


def explain_wait(tier: Tier, waiting: ExplainedWait, *, room: StretchesThen = NOT_STRETCHED) -> str:
    """The reason for the wait, to follow "Why then: "."""
    wait = waiting.wait
    if tier.bounds is None:
        every = tier.every.total_seconds()
        if abs(wait - every) > _tolerance_of(every, tier):
            return f"{PUT_OFF}." if wait > every else EARLIER
        age, how_often = spoken(tier.younger_than), spoken_after_every(tier.every)
        return f"tweets younger than {age} are checked every {how_often}."
    accuracy, at_most, at_least = tier.bounds
    usual = adapted_wait(waiting.age, waiting.pace, tier.bounds)
    stretched = adapted_wait(waiting.age, waiting.pace, tier.bounds, room.windows)
    if (
        room.money > 1
        and waiting.closes_the_day
        and wait < stretched - _tolerance_of(stretched, tier)
    ):
        return CLOSES
    if wait < usual - _tolerance_of(usual, tier):
        return EARLIER
    if wait > usual + _tolerance_of(usual, tier):
        because = _explain_longer_wait(tier, waiting, usual, stretched, room)
        times = f"{wait / usual:.1f} times the usual"
        return f"{_describe_growth(waiting)}; the wait is {times}, since {because}."
    if usual <= at_most:
        return f"{_describe_growth(waiting)}, and the shortest interval is {_length(at_most)}."
    if usual >= at_least:
        return f"{_describe_growth(waiting)}, and the longest interval is {_length(at_least)}."
    return f"{_describe_growth(waiting)}, and {spell_share(accuracy)} may be missed."


def _tolerance_of(wait: float, tier: Tier) -> float:
    """How far a wait may be from what the rule says."""
    return tier.jitter * wait + TOLERANCE_S


def _explain_longer_wait(
    tier: Tier, waiting: ExplainedWait, usual: float, stretched: float, room: StretchesThen
) -> str:
    """`usual` and `stretched`: the waits by the rule, with room for all, and in X's windows."""
    assert tier.bounds is not None
    most, by_money = stretched, False
    if waiting.wait > stretched + _tolerance_of(stretched, tier):
        by_money = room.money > 1 and waiting.is_for_another_day
        if by_money:
            longest = min(stretched * room.money, tier.bounds.at_least * MAX_AT_LEAST_STRETCH)
            # A new day's checks are spread over its first half hour.
            most = max(longest, stretched + min(stretched, LATE_S + SPREAD_S))
        if waiting.wait > most + _tolerance_of(most, tier):
            return STRETCHED_OTHERWISE
    return room.reason(by_windows=stretched > usual, by_money=by_money)


# Where money is short: X bills a tweet once a day, so this look-up is paid for already.
CLOSES = "it is a last check on a day that is paid for, since money is short."
TOMORROW = "it waits for tomorrow's money, since today's is spent or kept for younger tweets."
DAY_START = "it waits for its turn with the new day's money."
EVENING_RELEASE = "it waits for what is left of today's money in the evening."
# A poll or the stream brought a sample, a person asked for a check, or X names a newer version.
EARLIER = "it was planned from earlier figures or other intervals, or was moved up."
# Its request failed, or found no room.
PUT_OFF = "it was put off, or planned with other intervals"
# Stretches are known for a day.
STRETCHED_OTHERWISE = f"{PUT_OFF} or at another stretch"


def _describe_growth(waiting: ExplainedWait) -> str:
    """How fast it grows, in words."""
    an_hour = waiting.pace * 3600
    if an_hour < _HARDLY_GROWS:
        return "its figures hardly change"
    if an_hour >= 1:
        return f"it grows by {waiting.pace * 60:.0%} a minute"
    return f"it grows by {an_hour:.0%} an hour" if an_hour >= 0.01 else _SLOWLY.format(an_hour)


_SLOWLY = "it grows by {:.2%} an hour"


def _length(seconds: float) -> str:
    return spoken(timedelta(seconds=seconds))
