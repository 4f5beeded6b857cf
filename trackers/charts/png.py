"""A chart as a PNG, in one font that lies beside the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import resvg_py

_VENDOR = Path(__file__).parents[1] / "static" / "trackers" / "vendor"
_FONT_FILE = _VENDOR / "source-sans-3.052" / "SourceSans3-Regular.ttf"
_FONT_FAMILY = "Source Sans 3"
# Dots for each unit of the SVG: as sharp as a phone's screen.
_DOTS = 2


class Chart(Protocol):
    @property
    def title(self) -> str: ...

    @property
    def about(self) -> str: ...

    def svg(self, *, width: int, follows_scheme: bool) -> str: ...


def png(svg: str) -> bytes:
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=_DOTS,
            skip_system_fonts=True,
            font_files=[str(_FONT_FILE)],
            font_family=_FONT_FAMILY,
            sans_serif_family=_FONT_FAMILY,
        )
    )
