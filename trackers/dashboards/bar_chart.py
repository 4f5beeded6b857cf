"""A small bar chart as inline SVG, made on the server; its exact values stand in a table below it.

All bars are one path: a page has many such charts, and an element for each bar would weigh fifty
times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from django.utils.safestring import SafeString

_WIDTH, _HEIGHT = 360, 60
# The part of a bar's place that the bar fills.
_BAR_FILL = 0.8
# So that a small value does not look like zero.
_MIN_BAR_HEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class BarChart:
    # The oldest first; None where nothing is known, which is not the same as 0.
    values: Sequence[float | None]
    label: str

    @property
    def html(self) -> SafeString:
        most = max((value for value in self.values if value is not None), default=0)
        step = _WIDTH / max(1, len(self.values))
        bars, gaps = [], []
        for place, value in enumerate(self.values):
            x = place * step
            if value is None:
                gaps.append(f"M{x:.1f} 0h{step:.1f}v{_HEIGHT}h-{step:.1f}z")
            elif value > 0:
                height = max(_MIN_BAR_HEIGHT, _HEIGHT * value / most)
                bars.append(
                    f"M{x:.1f} {_HEIGHT}v-{height:.1f}h{step * _BAR_FILL:.1f}v{height:.1f}z"
                )
        label = escape(self.label)
        return SafeString(
            f'<svg class="bar-chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none"'
            f' role="img" aria-label="{label}"><title>{label}</title>'
            f'<path class="unknown" d="{"".join(gaps)}"/><path class="value" d="{"".join(bars)}"/>'
            "</svg>"
        )
