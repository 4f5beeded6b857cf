"""A page and its parts have one address. A tick names the part that it asks for (`?part=figures`),
and the view reads only what that part shows.

A part is a partial of the page's template. Its name is in the address, so no cache mistakes one for
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

Context = Mapping[str, object]
PartReader = Callable[[], Context]


def part_of(request: HttpRequest) -> str | None:
    """The part that is asked for; None for the page."""
    return request.GET.get("part")


def render_parts(
    request: HttpRequest,
    template: str,
    parts: Mapping[str, PartReader],
    *,
    shared: Context,
    frame: PartReader = dict,
    alone: Mapping[str, PartReader] | None = None,
) -> HttpResponse:
    """The page, or the part that the request names; 404 for a part that it does not have.

    `parts`: what reads the context of each partial. `shared`: what all of them show. `frame`: reads
    what only the page shows, around its parts. `alone`: parts that are read in another way when the
    page shows them, so only a request for them reads this.
    """
    part = part_of(request)
    if part is None:
        context = {**shared, **frame()}
        for read in parts.values():
            context.update(read())
        return render(request, template, context)
    reader = {**parts, **(alone or {})}.get(part)
    if reader is None:
        raise Http404(f"This page has no part {part[:80]!r}.")
    return render(request, f"{template}#{part}", {**shared, **reader()})
