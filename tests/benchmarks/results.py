"""What a bench tells: rows for a table, spreads of rounds, bars and whether met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

Value = str | float | int | None


@dataclass(frozen=True, slots=True)
class Bar:
    """What must be reached. A book, unlike a speed, is right or wrong whatever the machine."""

    name: str
    measured: float | None
    bound: float
    sense: Literal["at least", "at most", "exactly"] = "at least"
    unit: str = ""
    book: bool = False

    @property
    def met(self) -> bool:
        if self.measured is None:
            return False
        if self.sense == "exactly":
            return self.measured == self.bound
        return (
            self.measured >= self.bound if self.sense == "at least" else self.measured <= self.bound
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "measured": self.measured,
            "sense": self.sense,
            "bar": self.bound,
            "unit": self.unit,
            "book": self.book,
            "met": self.met,
        }


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure in several rounds."""

    name: str
    values: tuple[float, ...]
    unit: str = ""

    @property
    def median(self) -> float:
        return median(self.values)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "median": self.median,
            "least": min(self.values),
            "most": max(self.values),
            "values": list(self.values),
            "unit": self.unit,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """`rows` share their keys, which are the columns of the table."""

    name: str
    rows: Sequence[Mapping[str, Value]]
    bars: Sequence[Bar] = ()
    spreads: Sequence[Spread] = ()
    notes: Sequence[str] = field(default=())

    @property
    def met(self) -> bool:
        return all(bar.met for bar in self.bars)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rows": [dict(row) for row in self.rows],
            "spreads": [spread.to_dict() for spread in self.spreads],
            "bars": [bar.to_dict() for bar in self.bars],
            "notes": list(self.notes),
            "met": self.met,
        }
