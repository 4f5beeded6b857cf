"""Where values lie on an axis, and which are named there. Pure, but for the reader's zone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tweetwatch import notation

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
# Of an axis of times, in seconds; days begin at the reader's midnight.
_TIME_STEPS = (
    60, 120, 300, 600, 900, 1800, _HOUR, 2 * _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR,
    _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 30 * _DAY, 90 * _DAY, 365 * _DAY,
)  # fmt: skip
_SHORT = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` at `start` to `high` at `end`, in pixels."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def place(self, value: float) -> float:
        if not self.is_log:
            share = (value - self.low) / (self.high - self.low)
        else:
            # What has no logarithm lies on the axis.
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


def bounds(low: float, high: float, *, is_log: bool) -> tuple[float, float]:
    """Round ends that hold all values; never the same one twice."""
    if is_log:
        first = 10 ** math.floor(math.log10(max(low, 1)))
        last = 10 ** math.ceil(math.log10(max(high, 1)))
        return first, max(last, 10 * first)
    step = _round_step(max(high - min(low, 0), 1), 5)
    return math.floor(min(low, 0) / step) * step, max(math.ceil(high / step) * step, step)


def count_ticks(low: float, high: float, *, is_log: bool) -> list[tuple[float, str]]:
    if is_log:
        first, last = round(math.log10(low)), round(math.log10(high))
        return [(10.0**power, shortened(10.0**power)) for power in range(first, last + 1)]
    step = _round_step(high - low, 5)
    number = round((high - low) / step)
    return [(low + place * step, shortened(low + place * step)) for place in range(number + 1)]


def _round_step(length: float, most: int) -> float:
    """1, 2 or 5 times a power of ten, and no less than one: posts are counted in whole numbers."""
    least = length / most
    power = 10 ** math.floor(math.log10(least))
    return max(1.0, next(step * power for step in (1, 2, 5, 10) if step * power >= least * 0.999))


def shortened(value: float) -> str:
    """1,500 as 1.5K."""
    for size, letter in _SHORT:
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def time_ticks(since: float, until: float, most: int) -> list[tuple[float, str]]:
    """Round times of the reader's clock; the day is said where it changes."""
    fits = [step for step in _TIME_STEPS if (until - since) / step <= most]
    step = fits[0] if fits else _TIME_STEPS[-1]
    ticks, day = [], ""
    for at in _round_times(since, until, step):
        moment = datetime.fromtimestamp(at, UTC)
        today = notation.day(moment)
        words = today if step >= _DAY else notation.clock(moment)
        if step < _DAY and today != day:
            words = f"{words}\n{today}"
        day = today
        ticks.append((at, words))
    return ticks


def _round_times(since: float, until: float, step: int) -> Iterator[float]:
    """By the reader's clock, which may jump within the axis."""
    local = notation.local(datetime.fromtimestamp(since, UTC))
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    place = 0
    while True:
        # The arithmetic of local times: a day later is the next midnight, however long that is.
        at = (midnight + timedelta(seconds=place * step)).timestamp()
        if at > until:
            return
        if at >= since:
            yield at
        place += 1


def age_ticks(until: float, most: int) -> list[tuple[float, str]]:
    """Of ages in minutes."""
    steps = [step / _MINUTE for step in _TIME_STEPS]
    step = next((step for step in steps if until / step <= most), steps[-1])
    return [(place * step, _age_words(place * step)) for place in range(int(until / step) + 1)]


def _age_words(minutes: float) -> str:
    whole = round(minutes)
    if whole < 60:
        return f"{whole} min"
    size, small, name, rest = (60, 1, "h", "min") if whole < 1440 else (1440, 60, "d", "h")
    more = whole % size // small
    return f"{whole // size} {name}" + (f" {more} {rest}" if more else "")
