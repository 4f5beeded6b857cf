"""A person acts on one row from its page: a POST, one act, and back with a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from trackers import acts, history
from trackers.dashboards.access import demand
from trackers.dashboards.asking import unsure


@dataclass(frozen=True, slots=True)
class Act:
    """`do`: a task for ids, which returns how many it changed; `refused` is what is said when it
    changed none, and what to do then. `leaves`: the page is gone afterwards. `asks`: the question
    before it is done."""

    do: Callable[[Iterable[int]], int]
    done: str
    refused: str
    permission: str
    leaves: bool = False
    asks: str = ""


def carry_out(
    request: HttpRequest,
    acts: Mapping[str, Act],
    act: str,
    *,
    find: Callable[[int], Model],
    id: int,
    what: str,
) -> HttpResponse:
    """Do it and return to the page `what`, or to the list; 404 for an unknown act or row, 403
    without the permission."""
    chosen = acts.get(act)
    if chosen is None:
        raise Http404(f"There is no action {act} for a {what}.")
    demand(request, chosen.permission)
    found = find(id)
    back = reverse(what, args=[id])
    if chosen.asks and (page := unsure(request, chosen.asks, button=act.capitalize(), back=back)):
        return page
    name = str(found)
    if chosen.do([found.pk]):
        flag = history.DELETION if chosen.leaves else history.CHANGE
        history.record(request.user, [found], f"{act.capitalize()}, on its page.", flag=flag)
        messages.success(request, f"{name}: {chosen.done}")
        return redirect(f"{what}s") if chosen.leaves else redirect(what, id=id)
    messages.error(request, f"{name}: {chosen.refused}")
    return redirect(what, id=id)


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
    demand(request, act.permission)
    row = find(id)
    back = reverse(page, args=[id])
    if act.asks and (asking := unsure(request, act.asks(row), button=act.button, back=back)):
        return asking
    done = act.do(row, history.on_page(request.user), **also())
    say(request, done)
    return redirect(f"{page}s") if act.leaves and done.is_done else redirect(back)


def say(request: HttpRequest, done: acts.Done) -> None:
    """On the next page: in green what was done, in red why nothing was."""
    (messages.success if done.is_done else messages.error)(request, done.said)
