"""Curves as an SVG file, in colours that are read on light ground and on dark; both axes by
powers, of two and of ten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10
from pathlib import Path

from django.template import Context, Engine

TEMPLATE = Path(__file__).with_name("ramp.svg")
LEFT, RIGHT, TOP, BOTTOM = 60, 520, 50, 305
# Between the names of two curves.
APART = 16
COLORS = {"read": "#d9730d", "cache": "#2f81f7", "sized": "#2da44e", "timed": "#a371f7"}


@dataclass(frozen=True, slots=True)
class Curve:
    label: str
    color: str
    points: str
    y: str


def drawn(
    title: str, *, across: str, numbers: Sequence[int], curves: Mapping[str, Sequence[float]]
) -> str:
    """`curves`: milliseconds of each number, by strategy."""
    values = [value for one in curves.values() for value in one]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + 1)
    span = max(log2(numbers[-1]), 1.0)

    def x(number: int) -> float:
        return LEFT + (RIGHT - LEFT) * log2(number) / span

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (log10(value) - low) / (high - low)

    ends = labels_at({key: y(one[-1]) for key, one in curves.items()})
    visible = {
        "title": title,
        "across": across,
        "levels": [(f"{y(10.0**n):.1f}", f"{10.0**n:g} ms") for n in range(low, high + 1)],
        "numbers": [(f"{x(number):.1f}", str(number)) for number in numbers],
        "curves": [
            Curve(key, COLORS[key], points_of(map(x, numbers), map(y, one)), f"{ends[key]:.1f}")
            for key, one in curves.items()
        ],
    }
    return Engine().from_string(TEMPLATE.read_text()).render(Context(visible))


def points_of(across: Iterable[float], up: Iterable[float]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))


def labels_at(ends: Mapping[str, float]) -> dict[str, float]:
    """Where each curve ends, moved down where two would stand on one another."""
    placed: dict[str, float] = {}
    last = float("-inf")
    for key in sorted(ends, key=lambda key: ends[key]):
        last = placed[key] = max(ends[key], last + APART)
    return placed
