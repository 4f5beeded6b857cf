"""What a person may do with one source from its page: a POST, one task, and back."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers import tasks
from trackers.dashboards.access import staff_only
from trackers.dashboards.acts import Act
from trackers.dashboards.source import find

ACTS = {
    "poll": Act(
        tasks.poll_sources_now,
        "Its next poll is due now.",
        "It cannot be polled now.",
        permission="trackers.change_source",
        leads_to="source",
    ),
    "pause": Act(
        tasks.pause_sources,
        "Paused. Nobody reads it until it is resumed.",
        "It was paused.",
        permission="trackers.change_source",
        leads_to="source",
    ),
    "resume": Act(
        tasks.resume_sources,
        "Resumed.",
        "It was not paused.",
        permission="trackers.change_source",
        leads_to="source",
    ),
    "remove": Act(
        tasks.remove_sources,
        "Removed. The tweets that it brought stay tracked.",
        "It was not there.",
        permission="trackers.delete_source",
        leads_to="sources",
    ),
}


@require_POST
@staff_only
def act_on_source(request: HttpRequest, id: int, act: str) -> HttpResponseRedirect:
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"Nobody can {act} a source.")
    if not request.user.has_perm(chosen.permission):
        raise PermissionDenied
    source = find(id)
    done = chosen.do([source.pk])
    messages.success(request, f"{source}: {chosen.done if done else chosen.undone}")
    return redirect("sources") if chosen.leads_to == "sources" else redirect("source", id=id)
