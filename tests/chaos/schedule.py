"""When what goes wrong, and on which host: a pure function of the seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.chaos.faults import Kind

# A round of every kind takes a minute at the least.
ROUND_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Fault:
    """`at` and `seconds` from the start of the faults; `hosts` in the order in which a victim is
    looked for, the first is meant."""

    number: int
    at: float
    kind: Kind
    hosts: tuple[int, ...]
    seconds: float


def rounds(seconds):
    """How often each kind happens that is not for once, exactly."""
    return max(1, int(seconds / ROUND_SECONDS))


def schedule(
    seed: int, *, seconds: float, kinds: Sequence[Kind], hosts: int, lease: float
) -> tuple[Fault, ...]:
    """Each kind once in a round, or once in all; each lane in an order of its own, one after the
    other."""
    chance = random.Random(seed)
    collected: list[tuple[float, Kind, tuple[int, ...], float]] = []

    def fill(start: float, length: float, mine: list[Kind]) -> None:
        chance.shuffle(mine)
        slot = length / len(mine)
        for place, kind in enumerate(mine):
            lasts = chance.uniform(*kind.seconds) * (lease if kind.in_leases else 1.0)
            # None lasts longer than its turn.
            lasts = min(lasts, slot - 0.01)
            begin = chance.uniform(0.0, max(0.0, slot - lasts - 0.5))
            order = tuple(chance.sample(range(hosts), hosts))
            collected.append((start + place * slot + begin, kind, order, lasts))

    length = seconds / rounds(seconds)
    for turn in range(rounds(seconds)):
        for mine in by_lane(kind for kind in kinds if not kind.once):
            fill(turn * length, length, mine)
    for mine in by_lane(kind for kind in kinds if kind.once):
        fill(0.0, seconds, mine)
    collected.sort(key=lambda one: (one[0], one[1].name))
    return tuple(
        Fault(number, round(at, 3), kind, order, round(lasts, 3))
        for number, (at, kind, order, lasts) in enumerate(collected, start=1)
    )


def by_lane(kinds: Iterable[Kind]) -> list[list[Kind]]:
    lanes: dict[str, list[Kind]] = {}
    for kind in kinds:
        lanes.setdefault(kind.lane, []).append(kind)
    return [lanes[lane] for lane in sorted(lanes)]
