"""What the advice on the pages asks for: a queue resumed, a stopped project asked again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import needs
from trackers.jobs import holds
from trackers.jobs.models import Namespace
from trackers.jobs.pausing import paused_all
from trackers.money import stops
from trackers.money.projects import Project
from trackers.schedule.namespace import TWEET_UPDATE


@require_POST
@needs("trackers.change_namespace")
def resume_queue(request: HttpRequest, name: str) -> HttpResponseRedirect:
    found = Namespace.objects.filter(pk=name)
    if not found.exists():
        raise Http404(f"There is no queue {name}.")
    if paused_all():
        messages.error(
            request, f"Everything is paused. {name} continues once everything is resumed."
        )
    elif found.filter(paused=True).update(paused=False):
        history.record(request.user, list(found), "Resumed, on a page.")
        messages.success(request, f"Resumed {name}.")
    else:
        messages.error(request, f"{name} was not paused.")
    return redirect("operations")


@require_POST
@needs("trackers.change_project")
def ask_again(request: HttpRequest, id: int) -> HttpResponseRedirect:
    """Somebody has paid for a project that X said has no money left."""
    project = Project.objects.filter(pk=id).first()
    if project is None:
        raise Http404(f"There is no project {id}.")
    if stops.go_on_with([id]):
        holds.lift(TWEET_UPDATE)
        history.record(request.user, [project], "Continued, on a page.")
        messages.success(request, f"{project.name}: X is asked again with the next batch.")
    else:
        messages.error(request, f"{project.name} was not stopped.")
    return redirect("operations")
