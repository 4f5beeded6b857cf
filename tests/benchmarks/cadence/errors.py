"""How far what is known of a tweet is from the truth, over its first thirty days."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.cadence.world import ADDED, AGES, BAND, BANDS, DAY, LENGTHS, Figures, Tweet

# A figure that is this far off is wrong: by more than ten percent.
FAR = 0.1

Look = tuple[float, Figures]


@dataclass(slots=True)
class Errors:
    """Sums over time; each of the five bands of age counts alike, whatever its length.

    `now`: of the newest look; `curve`: of the straight line between looks; `off`: the time in which
    some figure of the newest look is off by more than a tenth.
    """

    now: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))
    curve: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))
    off: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))
    time: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))

    def add(
        self, tweet: Tweet, looks: Sequence[Look], *, since: float = 0.0, until: float = math.inf
    ) -> None:
        """Compare a tweet's looks, by age, with its truth, from the first look on.

        With `since` from that age, even when it had no look by then: what is not known is 0.
        """
        begin = since or looks[0][0]
        now, curve, off, time = self.now, self.curve, self.off, self.time
        first = bisect_left(AGES, begin)
        views, likes, retweets = tweet.logs
        log = math.log
        next_look = 0
        # What is known, and its growth a second until the next look.
        known: Sequence[float] = (0, 0, 0)
        slope: Sequence[float] = (0.0, 0.0, 0.0)
        taken = 0.0
        steady: tuple[float, float, float] = (log(ADDED),) * 3
        until_age = looks[0][0] if looks else math.inf
        for place in range(first, len(AGES)):
            age = AGES[place]
            if age > until:
                break
            while age >= until_age:
                taken, known = looks[next_look]
                next_look += 1
                steady = (log(known[0] + ADDED), log(known[1] + ADDED), log(known[2] + ADDED))
                if next_look < len(looks):
                    until_age, after = looks[next_look]
                    gap = (until_age - taken) or 1.0
                    slope = (
                        (after[0] - known[0]) / gap,
                        (after[1] - known[1]) / gap,
                        (after[2] - known[2]) / gap,
                    )
                else:
                    until_age, slope = math.inf, (0.0, 0.0, 0.0)
            band, length = BAND[place], LENGTHS[place]
            true = views[place], likes[place], retweets[place]
            apart = (
                abs(true[0] - steady[0]),
                abs(true[1] - steady[1]),
                abs(true[2] - steady[2]),
            )
            time[band] += length
            total = apart[0] + apart[1] + apart[2]
            now[band] += total * length / 3
            if apart[0] > FAR or apart[1] > FAR or apart[2] > FAR:
                off[band] += length
            if slope[0] or slope[1] or slope[2]:
                passed = age - taken
                total = (
                    abs(true[0] - log(known[0] + slope[0] * passed + ADDED))
                    + abs(true[1] - log(known[1] + slope[1] * passed + ADDED))
                    + abs(true[2] - log(known[2] + slope[2] * passed + ADDED))
                )
            curve[band] += total * length / 3

    def means(self) -> tuple[float, float, float]:
        """The mean errors of the curve and of now, and the share of time that is off."""
        return (
            mean(part / time for part, time in zip(self.curve, self.time, strict=True) if time),
            mean(part / time for part, time in zip(self.now, self.time, strict=True) if time),
            mean(part / time for part, time in zip(self.off, self.time, strict=True) if time),
        )


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def days(tweet: Tweet, looks: Iterable[Look]) -> int:
    """UTC days with a look: what X bills."""
    return len({int((tweet.born + age) // DAY) for age, _ in looks})
