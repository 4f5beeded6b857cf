"""A person acts on one row from its page: a POST, one act, and back with a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from trackers import acts, history
from trackers.dashboards.access import require_permission


def act_on(
    request: HttpRequest,
    offered: Mapping[str, acts.Act],
    name: str,
    *,
    find: Callable[[int], Any],
    id: int,
    page: str,
    also: Callable[[], dict[str, Any]] = dict,
) -> HttpResponse:
    """Do the act of this name to the row, and return to its `page`, or to the list if it is gone.

    `also` reads what the act takes besides. 404 for an unknown act or row, 403 without its
    permission.
    """
    act = offered.get(name)
    if act is None:
        raise Http404(f"There is no action {name[:40]}.")
    require_permission(request, act.permission)
    row = find(id)
    back = reverse(page, args=[id])
    if act.asks and (
        asking := confirmation_page(request, act.asks(row), button=act.button, back=back)
    ):
        return asking
    done = act.do(row, history.on_page(request.user), **also())
    show_message(request, done)
    return redirect(f"{page}s") if act.leaves and done.is_done else redirect(back)


def show_message(request: HttpRequest, done: acts.Done) -> None:
    """On the next page: in green what was done, in red why nothing was."""
    (messages.success if done.is_done else messages.error)(request, done.message)


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
    return asking_page(request, question, button=button, back=back, fields=fields)


def asking_page(
    request: HttpRequest,
    question: str,
    *,
    button: str,
    back: str,
    fields: Sequence[tuple[str, str]],
) -> HttpResponse:
    """The page that asks, and sends these fields, with `sure`, to the address that showed it."""
    context = {"question": question, "button": button, "back": back, "fields": fields}
    return render(request, "dashboards/sure.html", context)


def form_page(request: HttpRequest, template: str, form: BaseForm, **context: Any) -> HttpResponse:
    """A page with a form, which is a 400 if something in it is wrong."""
    status = 400 if form.errors else 200
    return render(request, template, {"form": form, **context}, status=status)
