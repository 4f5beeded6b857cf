"""A chart as a file: SVG, or PNG in one font that lies beside the pages."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import resvg_py
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.safestring import SafeString

from trackers.dashboards.charts.drawing import MAX_WIDTH, MIN_WIDTH, WIDTH

PICTURES = {"svg": "image/svg+xml", "png": "image/png"}
_VENDOR = Path(__file__).parents[2] / "static" / "trackers" / "vendor"
_FONT_FILE = _VENDOR / "source-sans-3.052" / "SourceSans3-Regular.ttf"
_FONT_FAMILY = "Source Sans 3"
# Dots for each unit of the SVG: as sharp as a phone's screen.
_DOTS = 2


# Within a page: one of them is shown, by the width of the screen.
_WIDE_PAGE, _NARROW_PAGE = 860, 360


class Chart(Protocol):
    @property
    def title(self) -> str: ...

    def svg(self, *, width: int, follows_scheme: bool) -> str: ...


@dataclass(frozen=True, slots=True)
class InlineChart:
    """A chart within a page, whose styles give it the colours of the theme."""

    title: str
    wide: SafeString
    narrow: SafeString


def inline_chart(chart: Chart) -> InlineChart:
    wide, narrow = (
        SafeString(chart.svg(width=width, follows_scheme=False))
        for width in (_WIDE_PAGE, _NARROW_PAGE)
    )
    return InlineChart(chart.title, wide, narrow)


def as_picture(request: HttpRequest, chart: Chart, form: str, *, name: str) -> HttpResponseBase:
    """The chart in one of PICTURES, `width` wide, or 304. With `scheme=auto`, as pages without
    scripts show it, it is dark where the reader's system is; a file is light everywhere."""
    follows_scheme = form == "svg" and request.GET.get("scheme") == "auto"
    svg = chart.svg(width=_asked_width(request), follows_scheme=follows_scheme)
    # Of what is drawn, so that a PNG that is known need not be made.
    etag = f'"{sha256(f"{form} {svg}".encode()).hexdigest()[:32]}"'
    answer = get_conditional_response(request, etag=etag)
    if answer is None:
        body = _png(svg) if form == "png" else svg.encode()
        answer = HttpResponse(body, content_type=PICTURES[form])
        answer["Content-Disposition"] = f'inline; filename="{name}.{form}"'
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer


def _png(svg: str) -> bytes:
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


def _asked_width(request: HttpRequest) -> int:
    asked = request.GET.get("width", "")
    width = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else WIDTH
    return max(MIN_WIDTH, min(width, MAX_WIDTH))
