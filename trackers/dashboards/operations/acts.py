"""What the advice on the pages asks for: a queue resumed, a stopped project asked again."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers.dashboards.access import staff_only
from trackers.jobs import holds
from trackers.jobs.models import Namespace
from trackers.money import stops
from trackers.money.projects import Project
from trackers.schedule.namespace import TWEET_UPDATE


@require_POST
@staff_only
def resume_queue(request: HttpRequest, name: str) -> HttpResponseRedirect:
    demand(request, "trackers.change_namespace")
    found = Namespace.objects.filter(pk=name)
    if not found.exists():
        raise Http404(f"There is no queue {name}.")
    if found.filter(paused=True).update(paused=False):
        messages.success(request, f"Resumed {name}.")
    else:
        messages.warning(request, f"{name} was not paused.")
    return redirect("operations")


@require_POST
@staff_only
def ask_again(request: HttpRequest, id: int) -> HttpResponseRedirect:
    """A project that X said has no money left: somebody paid."""
    demand(request, "trackers.change_project")
    project = Project.objects.filter(pk=id).first()
    if project is None:
        raise Http404(f"There is no project {id}.")
    if stops.go_on_with([id]):
        holds.lift(TWEET_UPDATE)
        messages.success(request, f"{project.name}: X is asked again with the next batch.")
    else:
        messages.warning(request, f"{project.name} was not stopped.")
    return redirect("operations")


def demand(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied
