"""Everything paused, after a question, and resumed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.carry_out import say
from trackers.history import on_page
from trackers.jobs import acts
from trackers.jobs.acts import CHANGE
from trackers.jobs.models import Namespace
from trackers.schedule.intervals import current


@require_http_methods(["GET", "HEAD", "POST"])
@needs(CHANGE)
def pause_everything(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        because = request.POST.get("because", "")
        done = acts.pause_everything(on_page(request.user), because=because)
        # If it is done, the head of the page says so.
        if not done.is_done:
            say(request, done)
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
    say(request, acts.resume_everything(on_page(request.user)))
    return redirect("operations")


@require_safe
@needs(TWEETS)
def paused_now(request: HttpRequest) -> HttpResponse:
    """The line at the head of each page, polled now and then by pages with tweets, which are not
    fresh meanwhile."""
    return render(request, "dashboards/_paused.html")
