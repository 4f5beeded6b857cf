"""A question before what cannot be undone. Scripts ask it in place (live.js,
`data-confirm`) and say `sure`; without them the server answers with a page that asks."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone


def confirmation_page(
    request: HttpRequest, question: str, *, button: str, back: str
) -> HttpResponse | None:
    """The page that asks, whose `button` sends the same again, or None if `sure` came along.
    `back`: the address of the page whose button it was."""
    if request.POST.get("sure") == "yes":
        return None
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in ("csrfmiddlewaretoken", "sure")
        for value in values
    ]
    context = {
        "now": timezone.now(), "question": question, "button": button, "back": back,
        "fields": fields,
    }  # fmt: skip
    return render(request, "dashboards/sure.html", context)
