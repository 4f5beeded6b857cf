"""Cells in rows and columns, as SVG: the higher the value, the stronger the colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trackers.charts.drawing import COLOURS, ROW, WIDTH, escaped, frame, heading

LEVELS = 5
_NAME_WIDTH, _RIGHT, _HEIGHT, _GAP = 52, 14, 26, 2
# How strong the colour of each level is; 0: nothing is known.
_OPACITIES = (0.04, 0.14, 0.32, 0.52, 0.74, 1.0)


@dataclass(frozen=True, slots=True)
class HeatChart:
    title: str
    about: str
    rows: Sequence[str]
    columns: Sequence[str]  # empty: not said
    levels: Sequence[Sequence[int]]  # from 0 to LEVELS
    source: str = ""
    colour: str = "views"  # of COLOURS

    def svg(self, *, width: int = WIDTH, follows_scheme: bool = False) -> str:
        rows = heading(self.title, self.source, width=width)
        top = 14 + ROW * len(rows) + 4
        return frame(
            self.title,
            self.about,
            [*rows, *self._drawn(top, width)],
            width=width,
            height=top + _HEIGHT * len(self.rows) + 26,
            follows_scheme=follows_scheme,
        )

    def _drawn(self, top: int, width: int) -> Iterator[str]:
        colours = COLOURS["light"]
        soft, colour = colours["soft"], colours[self.colour]
        step = (width - _NAME_WIDTH - _RIGHT) / len(self.columns)
        for row, name in enumerate(self.rows):
            y = top + _HEIGHT * row
            yield f'<text class="soft" x="14" y="{y + 17}" fill="{soft}">{escaped(name)}</text>'
            for column, level in enumerate(self.levels[row]):
                yield (
                    f'<rect class="{self.colour}" x="{_NAME_WIDTH + column * step:.1f}" y="{y}"'
                    f' width="{step - _GAP:.1f}" height="{_HEIGHT - _GAP}" rx="2" fill="{colour}"'
                    f' fill-opacity="{_OPACITIES[level]}"/>'
                )
        bottom = top + _HEIGHT * len(self.rows) + 15
        for column, name in enumerate(self.columns):
            if name:
                yield (
                    f'<text class="soft" x="{_NAME_WIDTH + (column + 0.5) * step:.1f}" y="{bottom}"'
                    f' text-anchor="middle" fill="{soft}">{escaped(name)}</text>'
                )


def level_of(value: float | None, values: Sequence[float]) -> int:
    """From 1 to LEVELS by its rank among all, so that one hit does not leave the others pale; 0 for
    what is not known. `values`: in order."""
    if value is None:
        return 0
    below = sum(other < value for other in values)
    return 1 + min(LEVELS - 1, LEVELS * below // max(1, len(values)))
