"""Everything paused, after a question, and resumed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers import history
from trackers.dashboards.access import TWEETS, needs
from trackers.jobs.models import Namespace
from trackers.jobs.pausing import pause_all, resume_all
from trackers.schedule.intervals import current

CHANGE = "trackers.change_namespace"
WHY_MOST = 200


@require_http_methods(["GET", "HEAD", "POST"])
@needs(CHANGE)
def pause_everything(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        why = request.POST.get("because", "").strip()[:WHY_MOST]
        paused = pause_all(by=request.user.get_username(), because=why)
        if paused:
            said = f"Paused everything, on a page{': ' + why if why else ''}."
            history.record(request.user, [paused], said)
        else:
            messages.error(request, "Everything was paused already.")
        return redirect("operations")
    now, _ = current()
    queues = list(Namespace.objects.all())
    given = {
        "now": now,
        "running": [one.name for one in queues if not one.paused],
        "paused": [one.name for one in queues if one.paused],
    }
    return render(request, "dashboards/operations/pause.html", given)


@require_POST
@needs(CHANGE)
def resume_everything(request: HttpRequest) -> HttpResponse:
    resumed = resume_all()
    if resumed:
        history.record(request.user, [resumed], "Resumed everything, on a page.")
        messages.success(request, f"Resumed: {', '.join(resumed.queues) or 'no queue ran before'}.")
    else:
        messages.error(request, "Everything was not paused.")
    return redirect("operations")


@require_safe
@needs(TWEETS)
def paused_now(request: HttpRequest) -> HttpResponse:
    """The line at the head of each page, polled now and then by pages with tweets, which are not
    fresh meanwhile."""
    return render(request, "dashboards/_paused.html")
