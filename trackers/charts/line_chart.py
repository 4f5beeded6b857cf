"""A line chart as SVG, from plain data: axes, bands, lines or bars, and marks with their names.

Each element has its colour as an attribute, so that the file looks the same wherever it is opened,
and a class, by which the styles of a page may give it another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

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
from trackers.charts.scales import (
    Scale,
    age_ticks,
    bounds,
    count_ticks,
    shortened,
    time_ticks,
)
from tweetwatch import notation

# Of lines that are no metrics, by their place.
LINE_COLOURS = (
    "views", "likes", "retweets", "replies", "quotes", "bookmarks", "soft", "strong",
)  # fmt: skip
# As plot.js draws them, by metric and by place.
METRIC_DASHES = {
    "views": "", "likes": "9 4", "retweets": "3 4", "replies": "14 4", "quotes": "10 3 2 3",
    "bookmarks": "5 5",
}  # fmt: skip
LINE_DASHES = ("", "9 4", "3 4", "14 4", "10 3 2 3", "5 5", "2 2", "16 3 3 3")
_LEFT, _RIGHT, _BOTTOM = 58, 18, 44
# What an axis' name needs, in pixels.
_TIME_SPACE, _AGE_SPACE = 90, 70
_MOST_MARK_ROWS = 4
# An axis of one moment has this much room, in its own unit.
_LEAST = {"time": 60.0, "age": 5.0}


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    colour: str  # of COLOURS
    xs: Sequence[float]  # epoch seconds, or minutes of age
    # As many as there are xs; None begins a gap.
    values: Sequence[float | None]
    dash: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """From `low` to `high`; `middle`, if it is known, as a thin line."""

    name: str
    colour: str
    xs: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    middle: Sequence[float] = ()
    dash: str = "2 4"


@dataclass(frozen=True, slots=True)
class NamedMark:
    at: float
    number: int  # 0: none
    name: str


@dataclass(frozen=True, slots=True)
class LineChart:
    title: str
    about: str  # what it shows, in a sentence, for those who cannot see it
    x: Literal["time", "age"]
    lines: Sequence[Line]
    bands: Sequence[Band] = ()
    marks: Sequence[NamedMark] = ()
    is_log: bool = False
    # Each value holds from its x to the next one.
    has_bars: bool = False
    span: tuple[float, float] | None = None  # of its x; None: as far as there are values
    source: str = ""  # below the title: whose figures, and of when
    height: int | None = None  # below the headings; None: by its width

    def svg(self, *, width: int = WIDTH, follows_scheme: bool = False) -> str:
        """The picture. `follows_scheme`: dark where the reader's system is."""
        return _draw(self, width=width, follows_scheme=follows_scheme)

    @property
    def extent(self) -> tuple[float, float]:
        """From which x to which one: never of no length."""
        drawn: list[Line | Band] = [*self.lines, *self.bands]
        xs = [x for one in drawn for x in one.xs]
        first, last = self.span or (min(xs, default=0.0), max(xs, default=0.0))
        if self.x == "age":
            first = 0.0
        room = max(0.0, _LEAST[self.x] - (last - first))
        return (first, last + room) if self.x == "age" else (first - room / 2, last + room / 2)


def _draw(chart: LineChart, *, width: int, follows_scheme: bool) -> str:
    colours = COLOURS["light"]
    legend = list(_legend(chart, width))
    heading_rows = heading(chart.title, chart.source, width=width)
    top = (
        14 + ROW * len(heading_rows) + ROW * (1 + max((row for _, _, row, _ in legend), default=-1))
    )
    height = (chart.height or round(max(240, min(460, width * 0.45)))) + top
    first, last = chart.extent
    low, high = bounds(*_extremes(chart), is_log=chart.is_log)
    x = Scale(first, last, _LEFT, width - _RIGHT)
    y = Scale(low, high, height - _BOTTOM, top + 8, is_log=chart.is_log)
    parts = [
        *heading_rows,
        *_drawn_legend(legend, colours, top=14 + ROW * len(heading_rows)),
        *_axes(chart, x, y, colours, height=height),
        *(_drawn_band(band, x, y, colours) for band in chart.bands),
        *(_drawn_line(line, x, y, colours, chart.has_bars) for line in chart.lines),
        *_drawn_marks(chart, x, colours, top=top, bottom=height - _BOTTOM, right=width),
    ]
    return frame(
        chart.title,
        chart.about,
        parts,
        width=width,
        height=height,
        follows_scheme=follows_scheme,
    )


def _extremes(chart: LineChart) -> tuple[float, float]:
    """The least (of a logarithmic axis: above zero) and the greatest that are in sight."""
    first, last = chart.extent
    values = [
        value
        for line in chart.lines
        for at, value in zip(line.xs, line.values, strict=True)
        if value is not None and first <= at <= last
    ]
    for band in chart.bands:
        inside = [place for place, at in enumerate(band.xs) if first <= at <= last]
        values += [ends[place] for ends in (band.low, band.high) for place in inside]
    if chart.is_log:
        values = [value for value in values if value > 0]
    return min(values, default=0), max(values, default=1)


def _legend(chart: LineChart, width: int) -> Iterator[tuple[Line | Band, float, int, str]]:
    """Each line and band with the place of its name: across, and in which row."""
    across, row = 14.0, 0
    drawn: list[Line | Band] = [*chart.lines, *chart.bands]
    for item in drawn:
        known = [value for value in getattr(item, "values", ()) if value is not None]
        has_last = known and chart.x == "time" and not chart.has_bars
        value = f" {shortened(known[-1])}" if has_last else ""
        words = shorten(f"{item.name}{value}", width - 60)
        needed = 44 + len(words) * 12 * LETTER
        if across > 14 and across + needed > width - _RIGHT:
            across, row = 14.0, row + 1
        yield item, across, row, words
        across += needed


def _drawn_legend(
    legend: Sequence[tuple[Line | Band, float, int, str]], colours: dict[str, str], *, top: int
) -> Iterator[str]:
    soft = colours["soft"]
    for item, across, row, words in legend:
        y, colour = top + 8 + ROW * row, colours[item.colour]
        if isinstance(item, Band):
            yield (
                f'<rect class="{item.colour}" x="{across:.0f}" y="{y - 5}" width="24" height="10"'
                f' fill="{colour}" fill-opacity=".2"/>'
            )
        else:
            yield (
                f'<path class="{item.colour}-line" d="M{across:.0f} {y}h24" stroke="{colour}"'
                f' stroke-width="2"{_dashed(item.dash)}/>'
            )
        yield (
            f'<text class="soft" x="{across + 30:.0f}" y="{y + 4}" fill="{soft}">'
            f"{escaped(words)}</text>"
        )


def _axes(
    chart: LineChart, x: Scale, y: Scale, colours: dict[str, str], *, height: int
) -> Iterator[str]:
    soft, bottom = colours["soft"], height - _BOTTOM
    lines, names = [], []
    for value, words in count_ticks(y.low, y.high, is_log=chart.is_log):
        lines.append(f"M{_LEFT} {y.place(value):.1f}H{x.end:.0f}")
        names.append(
            f'<text x="{_LEFT - 8}" y="{y.place(value) + 4:.1f}" text-anchor="end">{words}</text>'
        )
    space = _TIME_SPACE if chart.x == "time" else _AGE_SPACE
    most = max(2, int((x.end - x.start) / space))
    ticks = time_ticks(x.low, x.high, most) if chart.x == "time" else age_ticks(x.high, most)
    for at, words in ticks:
        place = x.place(at)
        anchor = "end" if place > x.end - space / 3 else "middle"
        # Beside the name of the zone.
        anchor = "start" if place < x.start + space / 3 else anchor
        for row, part in enumerate(words.split("\n")):
            names.append(
                f'<text x="{place:.1f}" y="{bottom + 17 + 15 * row}"'
                f' text-anchor="{anchor}">{escaped(part)}</text>'
            )
        lines.append(f"M{place:.1f} {bottom}v4")
    zone = notation.offset(datetime.fromtimestamp(x.high, UTC)) if chart.x == "time" else "Age"
    names.append(f'<text x="8" y="{bottom + 17}">{escaped(zone)}</text>')
    yield f'<path class="grid-line" d="{"".join(lines)}" stroke="{colours["grid"]}" fill="none"/>'
    yield f'<g class="soft" fill="{soft}">{"".join(names)}</g>'


def _drawn_band(band: Band, x: Scale, y: Scale, colours: dict[str, str]) -> str:
    colour = colours[band.colour]
    above, below, middle = (
        [
            _point(at, value, x, y)
            for at, value in zip(band.xs, edge, strict=False)
            if x.low <= at <= x.high
        ]
        for edge in (band.high, band.low, band.middle)
    )
    if not above:
        return ""
    area = "L".join([*above, *reversed(below)])
    drawn = f'<path class="{band.colour}" d="M{area}z" fill="{colour}" fill-opacity=".16"/>'
    if middle:
        drawn += (
            f'<path class="{band.colour}-line" d="M{"L".join(middle)}" stroke="{colour}"'
            f' fill="none" stroke-width="1.5"{_dashed(band.dash)}/>'
        )
    return drawn


def _drawn_line(line: Line, x: Scale, y: Scale, colours: dict[str, str], has_bars: bool) -> str:
    colour = colours[line.colour]
    points = [
        (at, value) for at, value in zip(line.xs, line.values, strict=True) if x.low <= at <= x.high
    ]
    if has_bars:
        floor = y.place(max(y.low, 0))
        bars = [
            f"M{x.place(at):.1f} {floor:.1f}V{y.place(value):.1f}H{x.place(until):.1f}V{floor:.1f}z"
            for (at, value), (until, _) in pairwise(points)
            if value is not None
        ]
        return (
            f'<path class="{line.colour} {line.colour}-line" d="{"".join(bars)}" fill="{colour}"'
            f' fill-opacity=".35" stroke="{colour}"/>'
        )
    stretches: list[list[str]] = [[]]
    for at, value in points:
        if value is None:
            stretches.append([])
        else:
            stretches[-1].append(_point(at, value, x, y))
    # A measurement between two gaps is a dot: a line without length, with round ends.
    path = "".join(
        f"M{'L'.join(dict.fromkeys(stretch))}{'h0' if len(stretch) == 1 else ''}"
        for stretch in stretches
        if stretch
    )
    return (
        f'<path class="{line.colour}-line" d="{path}" stroke="{colour}" fill="none"'
        f' stroke-width="2" stroke-linejoin="round" stroke-linecap="round"{_dashed(line.dash)}/>'
    )


def _drawn_marks(
    chart: LineChart, x: Scale, colours: dict[str, str], *, top: int, bottom: int, right: int
) -> Iterator[str]:
    """Names that would touch stand below one another; where no row is free the number is enough."""
    soft, free = colours["soft"], [0.0] * _MOST_MARK_ROWS
    for mark in chart.marks:
        if not x.low <= mark.at <= x.high:
            continue
        place = x.place(mark.at)
        yield (
            f'<path class="soft-line" d="M{place:.1f} {top}V{bottom}" stroke="{soft}"'
            f' stroke-dasharray="2 4"/>'
        )
        name = f"{mark.number} {mark.name}" if mark.number else mark.name
        for words in (shorten(name, 200), str(mark.number or "")):
            length = (len(words) + 1) * 11 * LETTER
            is_left = place + length > right
            begin = place - length - 4 if is_left else place + 3
            row = next((row for row in range(_MOST_MARK_ROWS) if free[row] <= begin), None)
            if row is not None:
                break
        else:
            continue
        free[row] = begin + length
        at, anchor = (place - 3, "end") if is_left else (place + 3, "start")
        yield (
            f'<text class="soft" x="{at:.1f}" y="{top + 12 + 13 * row}" font-size="11"'
            f' text-anchor="{anchor}" fill="{soft}">{escaped(words)}</text>'
        )


def _point(at: float, value: float, x: Scale, y: Scale) -> str:
    return f"{x.place(at):.1f} {y.place(value):.1f}"


def _dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""
