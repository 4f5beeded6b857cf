"""Two times: X's own, sent to clients, and world time, in which engagement happens.

X's is real time, or ahead of it by a set amount, so that clients see a clock unlike their own.

World time runs `speed` times as fast from the world's start; a change of speed never makes it jump.
"""

from __future__ import annotations

import time
from dataclasses import dataclass


def real_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """From X's instant `from_ms` world time runs at `speed`; `elapsed_ms` had passed before."""

    from_ms: int
    elapsed_ms: float
    speed: float


class Clock:
    def __init__(self, *, start_ms: int, speed: float, ahead_ms: int = 0) -> None:
        self.start_ms, self.ahead_ms = start_ms, ahead_ms
        self._stretches = [Stretch(start_ms, 0.0, speed)]

    def now_ms(self) -> int:
        """X's time: all instants sent to clients, or passed to the methods here, are in it."""
        return real_ms() + self.ahead_ms

    @property
    def speed(self) -> float:
        return self._stretches[-1].speed

    def change(self, speed: float, *, now_ms: int) -> None:
        """Run at `speed` from now on; answers about earlier instants stay true."""
        self._stretches.append(Stretch(now_ms, self.elapsed_ms(now_ms), speed))

    def elapsed_ms(self, at_ms: int) -> float:
        """World milliseconds from the world's start to the instant `at_ms`."""
        for stretch in reversed(self._stretches):
            if at_ms >= stretch.from_ms:
                return stretch.elapsed_ms + (at_ms - stretch.from_ms) * stretch.speed
        return float(at_ms - self.start_ms)

    def to_dict(self, now_ms: int) -> dict[str, float]:
        return {
            "start_ms": self.start_ms,
            "now_ms": now_ms,
            "world_ms": round(self.start_ms + max(0.0, self.elapsed_ms(now_ms))),
            "clock_speed": self.speed,
            "ahead_s": self.ahead_ms / 1000,
        }
