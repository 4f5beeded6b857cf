"""Lying bars with their names, as SVG: classes, or parts of a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trackers.charts.drawing import (
    COLOURS,
    LETTER,
    ROW,
    WIDTH,
    escaped,
    frame,
    heading,
    shorten,
)

_ROW_HEIGHT, _BAR_HEIGHT, _FONT_SIZE = 26, 14, 12
_EDGE, _MOST_NAME_SHARE = 14, 0.4
_LEAST_BAR = 1.5


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    value: float
    words: str  # the value as it is said


@dataclass(frozen=True, slots=True)
class BarChart:
    title: str
    about: str
    bars: Sequence[Bar]
    source: str = ""
    colour: str = "views"  # of COLOURS

    def svg(self, *, width: int = WIDTH, follows_scheme: bool = False) -> str:
        rows = heading(self.title, self.source, width=width)
        top = 14 + ROW * len(rows) + 4
        height = top + _ROW_HEIGHT * len(self.bars) + 8
        return frame(
            self.title,
            self.about,
            [*rows, *self._drawn(top, width)],
            width=width,
            height=height,
            follows_scheme=follows_scheme,
        )

    def _drawn(self, top: int, width: int) -> Iterator[str]:
        colours = COLOURS["light"]
        letter = _FONT_SIZE * LETTER
        longest = max((len(bar.name) for bar in self.bars), default=0) * letter
        names = min(longest + 16, width * _MOST_NAME_SHARE)
        said = max((len(bar.words) for bar in self.bars), default=0) * letter + 12
        begin, room = _EDGE + names, width - _EDGE - names - said - 8
        most = max((bar.value for bar in self.bars), default=0) or 1
        for place, bar in enumerate(self.bars):
            y = top + _ROW_HEIGHT * place
            length = max(_LEAST_BAR if bar.value else 0, room * bar.value / most)
            yield (
                f'<text class="strong" x="{_EDGE}" y="{y + 17}" fill="{colours["strong"]}">'
                f"{escaped(shorten(bar.name, names))}</text>"
                f'<rect class="{self.colour}" x="{begin:.1f}" y="{y + 6}" width="{length:.1f}"'
                f' height="{_BAR_HEIGHT}" rx="2" fill="{colours[self.colour]}"/>'
                f'<text class="soft" x="{begin + length + 6:.1f}" y="{y + 17}"'
                f' fill="{colours["soft"]}">{escaped(bar.words)}</text>'
            )
