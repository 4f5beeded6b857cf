"""Numbers on a command line; what is not a number, or out of range, is refused in a sentence."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable

_MOST_PORTS = 65_535


def port(text: str) -> int:
    """The port to listen on; 0 takes any free one."""
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= value <= _MOST_PORTS:
        raise ArgumentTypeError(f"{text} is not a port: one is a number from 0 to {_MOST_PORTS:,}")
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text} is not a whole number from {least:,} to {most:,}")
        return value

    return read


def number(least: float, most: float, *, above: bool = False) -> Callable[[str], float]:
    """`above`: the value must be greater than `least`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        # NaN compares as false with everything.
        if not least <= value <= most or (above and value == least):
            first = f"above {least:g}, up to" if above else f"from {least:g} to"
            raise ArgumentTypeError(f"{text} is not a number {first} {most:,.15g}")
        return value

    return read
