"""A chart as a file: SVG, or PNG."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.safestring import SafeString

from trackers.charts.drawing import MAX_WIDTH, MIN_WIDTH, WIDTH
from trackers.charts.png import Chart, png

PICTURES = {"svg": "image/svg+xml", "png": "image/png"}
# Within a page: one of them is shown, by the width of the screen.
_WIDE_PAGE, _NARROW_PAGE = 860, 360


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
        body = png(svg) if form == "png" else svg.encode()
        answer = HttpResponse(body, content_type=PICTURES[form])
        answer["Content-Disposition"] = f'inline; filename="{name}.{form}"'
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer


def _asked_width(request: HttpRequest) -> int:
    asked = request.GET.get("width", "")
    width = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else WIDTH
    return max(MIN_WIDTH, min(width, MAX_WIDTH))
