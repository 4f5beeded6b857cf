"""What a person may do with one source from its page, or with those ticked in the list."""

from __future__ import annotations

import re

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import SOURCES, demand, needs
from trackers.dashboards.asking import unsure
from trackers.dashboards.carry_out import Act, carry_out
from trackers.dashboards.sources.figure_views import find
from trackers.dashboards.sources.list_views import MOST
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source

CHANGE = "trackers.change_source"
NAMED_MOST = 20

ACTS = {
    "poll": Act(
        life.poll_now,
        "Its next poll is due now.",
        "Not polled: it is paused, or being polled right now.",
        CHANGE,
    ),
    "pause": Act(
        life.pause,
        "Paused. It will not be read until it is resumed.",
        "It was already paused.",
        CHANGE,
    ),
    "resume": Act(
        life.resume,
        "Resumed.",
        "It was not paused.",
        CHANGE,
    ),
    "remove": Act(
        life.remove,
        "Removed. Its tweets stay tracked.",
        "It no longer exists.",
        permission="trackers.delete_source",
        leaves=True,
    ),
}


@require_POST
@needs(SOURCES)
def act_on_source(request: HttpRequest, id: int, act: str) -> HttpResponse:
    return carry_out(request, ACTS, act, find=find, id=id, what="source")


@require_POST
@needs(CHANGE)
def act_on_ticked(request: HttpRequest) -> HttpResponse:
    act = request.POST.get("act", "")
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"There is no action {act[:40]!r} for sources.")
    demand(request, chosen.permission)
    ids = [int(id) for id in request.POST.getlist("ids")[:MOST] if re.fullmatch(r"\d{1,18}", id)]
    sources = list(Source.objects.filter(pk__in=ids).order_by("pk"))
    if not sources:
        messages.error(request, "No sources were chosen. Tick some in the list.")
        return redirect("sources")
    if chosen.leaves:
        question = f"Remove {named(sources)}? The tweets stay tracked. This cannot be undone."
        if page := unsure(request, question, button="Remove", back=reverse("sources")):
            return page
    for source in sources:
        name = str(source)
        if chosen.do([source.pk]):
            flag = history.DELETION if chosen.leaves else history.CHANGE
            what = f"{act.capitalize()}, on the page of sources."
            history.record(request.user, [source], what, flag=flag)
            messages.success(request, f"{name}: {chosen.done}")
        else:
            messages.error(request, f"{name}: {chosen.refused}")
    return redirect("sources")


def named(sources: list[Source]) -> str:
    more = len(sources) - NAMED_MOST
    names = [str(source) for source in sources[:NAMED_MOST]]
    return ", ".join([*names, *([f"and {more} more"] if more > 0 else [])])
