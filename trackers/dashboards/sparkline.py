"""A small curve for a row of the list: points of an inline SVG, made on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from django.utils.safestring import SafeString

from trackers.dashboards.words import commas, lasting
from trackers.tweets.history import Run

_WIDTH, _HEIGHT, _MARGIN = 120, 30, 3

# The first known one is drawn; v1.1 has no views.
_PREFERRED = ("views", "likes", "retweets")


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
            f'<svg class="spark" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}"'
            f' height="{_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">'
            f"<title>{label}</title>"
            f'{lines}<circle cx="{x}" cy="{y}" r="2.4"/></svg>'
        )


def sparkline(
    runs: Sequence[Run], holes: frozenset[int], names: dict[str, str]
) -> Sparkline | None:
    """The newest runs of one tweet; None until there are two measurements to connect."""
    metric = next((name for name in _PREFERRED if _is_known(runs, name)), None)
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
        x = _scale_to(point[0] - first[0], last[0] - first[0], _WIDTH)
        y = _HEIGHT - _scale_to(point[1] - low, high - low, _HEIGHT)
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
        f"{_scale_to(place, len(counts) - 1, _WIDTH):.1f},"
        f"{_HEIGHT - _scale_to(count, high, _HEIGHT):.1f}"
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
    return _MARGIN + (size - 2 * _MARGIN) * (part / whole if whole else 0.0)
