"""What a person may do with one source from its page: a POST, one task, and back."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from trackers.dashboards.access import SOURCES, needs
from trackers.dashboards.carry_out import Act, carry_out
from trackers.dashboards.sources.figure_views import find
from trackers.ingest.sources import life

CHANGE = "trackers.change_source"

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
