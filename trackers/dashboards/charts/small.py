"""Small charts as inline SVG, made on the server: bars, a number for each of thirty days, and the
curve of a row.

All bars are one path: a page has many such charts, and an element for each bar would weigh fifty
times as much. Their exact values stand in a table below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape

from django.utils.safestring import SafeString

from trackers.dashboards.words import commas, lasting
from trackers.tweets.history import Run

_WIDTH, _HEIGHT = 360, 60
# The part of a bar's place that the bar fills.
_BAR_FILL = 0.8
# So that a small value does not look like zero.
_MIN_BAR_HEIGHT = 1.5
_DAYS_SHOWN = 30
_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_MARGIN = 120, 30, 3
# The first known one is drawn; v1.1 has no views.
_PREFERRED = ("views", "likes", "retweets")


@dataclass(frozen=True, slots=True)
class BarChart:
    # The oldest first; None where nothing is known, which is not the same as 0.
    values: Sequence[float | None]
    label: str
    # The part of each value that is drawn lighter, on top.
    lighter: Sequence[float] = ()

    @property
    def html(self) -> SafeString:
        most = max((value for value in self.values if value is not None), default=0)
        step = _WIDTH / max(1, len(self.values))
        bars, gaps, whole = [], [], []
        for place, value in enumerate(self.values):
            x = place * step
            if value is None:
                gaps.append(f"M{x:.1f} 0h{step:.1f}v{_HEIGHT}h-{step:.1f}z")
                continue
            if self.lighter:
                whole.append(_bar(x, step, value, most))
                value -= self.lighter[place]
            bars.append(_bar(x, step, value, most))
        label = escape(self.label)
        lighter = f'<path class="lighter" d="{"".join(whole)}"/>' if self.lighter else ""
        return SafeString(
            f'<svg class="bar-chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none"'
            f' role="img" aria-label="{label}"><title>{label}</title>'
            f'<path class="unknown" d="{"".join(gaps)}"/>{lighter}'
            f'<path class="value" d="{"".join(bars)}"/></svg>'
        )


def _bar(x: float, step: float, value: float, most: float) -> str:
    if value <= 0:
        return ""
    height = max(_MIN_BAR_HEIGHT, _HEIGHT * value / most)
    return f"M{x:.1f} {_HEIGHT}v-{height:.1f}h{step * _BAR_FILL:.1f}v{height:.1f}z"


@dataclass(frozen=True, slots=True)
class DailyChart:
    chart: BarChart
    lines: tuple[tuple[str, str], ...]  # (day, number), the newest first
    total: str  # of all days
    most: str
    first: str
    is_empty: bool


def first_day(today: date) -> date:
    return today - timedelta(days=_DAYS_SHOWN - 1)


def daily_chart(counts: Mapping[date, int], *, today: date, what: str) -> DailyChart:
    days = [first_day(today) + timedelta(days=place) for place in range(_DAYS_SHOWN)]
    numbers = [counts.get(day, 0) for day in days]
    total, most = commas(sum(numbers)), commas(max(numbers))
    return DailyChart(
        chart=BarChart(
            numbers, f"{what}: {total} in the last {_DAYS_SHOWN} days, at most {most} a day"
        ),
        lines=tuple((f"{day:%Y-%m-%d}", commas(counts.get(day, 0))) for day in reversed(days)),
        total=total,
        most=most,
        first=f"{days[0]:%-d %b}",
        is_empty=not any(numbers),
    )


@dataclass(frozen=True, slots=True)
class Sparkline:
    lines: tuple[str, ...]  # polylines, broken where measurements are missing
    end: tuple[str, str]  # the newest point
    label: str

    @property
    def html(self) -> SafeString:
        lines = "".join(f'<polyline points="{escape(line)}"/>' for line in self.lines)
        label, (x, y) = escape(self.label), map(escape, self.end)
        return SafeString(
            f'<svg class="spark" viewBox="0 0 {_SPARK_WIDTH} {_SPARK_HEIGHT}"'
            f' width="{_SPARK_WIDTH}" height="{_SPARK_HEIGHT}" preserveAspectRatio="none"'
            f' role="img" aria-label="{label}"><title>{label}</title>'
            # A line without length: round however far the picture is stretched.
            f'{lines}<path d="M{x} {y}h0"/></svg>'
        )


def sparkline(
    runs: Sequence[Run],
    holes: frozenset[int],
    names: dict[str, str],
    *,
    preferred: Sequence[str] = _PREFERRED,
) -> Sparkline | None:
    """The newest runs of one tweet, by the first of the preferred metrics that is known; None until
    there are two measurements to connect."""
    metric = next((name for name in preferred if _is_known(runs, name)), None)
    if metric is None:
        return None
    stretches = _unbroken(runs, holes, metric)
    points = [point for stretch in stretches for point in stretch]
    if len(points) < 2:
        return None
    first, last = points[0], points[-1]
    low, high = min(value for _, value in points), max(value for _, value in points)
    duration = runs[-1].measured_until - runs[0].taken_at

    def placed(point: tuple[float, int]) -> tuple[str, str]:
        x = _scale_to(point[0] - first[0], last[0] - first[0], _SPARK_WIDTH)
        y = _SPARK_HEIGHT - _scale_to(point[1] - low, high - low, _SPARK_HEIGHT)
        return f"{x:.1f}", f"{y:.1f}"

    return Sparkline(
        lines=tuple(" ".join(",".join(placed(point)) for point in line) for line in stretches),
        end=placed(last),
        label=f"{names[metric]} from {commas(first[1])} to {commas(last[1])} "
        f"in {lasting(duration)}, lowest {commas(low)}, highest {commas(high)}",
    )


def by_minute(counts: Sequence[int], label: str) -> Sparkline:
    """A count for each minute, from nothing up to the most there was."""
    high = max(counts)
    points = [
        f"{_scale_to(place, len(counts) - 1, _SPARK_WIDTH):.1f},"
        f"{_SPARK_HEIGHT - _scale_to(count, high, _SPARK_HEIGHT):.1f}"
        for place, count in enumerate(counts)
    ]
    x, _, y = points[-1].partition(",")
    return Sparkline((" ".join(points),), (x, y), label)


def _is_known(runs: Sequence[Run], metric: str) -> bool:
    return any(getattr(run, metric) is not None for run in runs)


def _unbroken(
    runs: Sequence[Run], holes: frozenset[int], metric: str
) -> list[list[tuple[float, int]]]:
    """(seconds, value) at the start and end of each run, split into stretches without holes."""
    stretches: list[list[tuple[float, int]]] = [[]]
    for place, run in enumerate(runs):
        value = getattr(run, metric)
        if place in holes or value is None:
            stretches.append([])
        if value is None:
            continue
        stretches[-1].append((run.taken_at.timestamp(), value))
        if run.measured_until > run.taken_at:
            stretches[-1].append((run.measured_until.timestamp(), value))
    return [stretch for stretch in stretches if stretch]


def _scale_to(part: float, whole: float, size: int) -> float:
    return _SPARK_MARGIN + (size - 2 * _SPARK_MARGIN) * (part / whole if whole else 0.0)


@dataclass(frozen=True, slots=True)
class AgainstUsual:
    """A tweet's curve since it was posted, over the area of what is usual."""

    line: str
    area: str
    end: tuple[str, str]
    label: str

    @property
    def html(self) -> SafeString:
        label, (x, y) = escape(self.label), map(escape, self.end)
        return SafeString(
            f'<svg class="spark" viewBox="0 0 {_SPARK_WIDTH} {_SPARK_HEIGHT}"'
            f' width="{_SPARK_WIDTH}" height="{_SPARK_HEIGHT}" preserveAspectRatio="none"'
            f' role="img" aria-label="{label}"><title>{label}</title>'
            f'<polygon class="usual" points="{self.area}"/>'
            f'<polyline points="{self.line}"/><path d="M{x} {y}h0"/></svg>'
        )


def against_usual(
    curve: Sequence[tuple[timedelta, int]],
    usual: Sequence[tuple[timedelta, float | None]],
    *,
    until: tuple[timedelta, float | None],
    label: str,
) -> AgainstUsual | None:
    """By age, from nothing at its posting; `usual` at several ages, and `until`, the last one."""
    age, _ = until
    if age <= timedelta(0):
        return None
    known = [(at, value) for at, value in (*usual, until) if value is not None and at <= age]
    most = max([count for _, count in curve] + [value for _, value in known], default=0)

    def placed(at: timedelta, value: float) -> str:
        x = _scale_to(at / age, 1, _SPARK_WIDTH)
        return f"{x:.1f},{_SPARK_HEIGHT - _scale_to(value, most, _SPARK_HEIGHT):.1f}"

    start = timedelta(0)
    line = [placed(start, 0), *(placed(at, count) for at, count in curve if at <= age)]
    area = [placed(start, 0), *(placed(at, value) for at, value in known), placed(age, 0)]
    x, _, y = line[-1].partition(",")
    return AgainstUsual(" ".join(line), " ".join(area) if known else "", (x, y), label)
