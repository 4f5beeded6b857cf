"""What the advice on the pages asks for: a queue resumed, a stopped project asked again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers.dashboards.access import needs
from trackers.dashboards.page_acts import show_message
from trackers.history import on_page
from trackers.jobs.acts import CHANGE_QUEUE, resume_queues
from trackers.jobs.models import Queue
from trackers.jobs.pausing import paused_all
from trackers.money import acts as money_acts
from trackers.money.projects import Project


@require_POST
@needs(CHANGE_QUEUE)
def resume_queue(request: HttpRequest, name: str) -> HttpResponseRedirect:
    queues = list(Queue.objects.filter(pk=name))
    if not queues:
        raise Http404(f"There is no queue {name}.")
    if paused_all():
        messages.error(
            request, f"Everything is paused. {name} continues once everything is resumed."
        )
    else:
        show_message(request, resume_queues(queues, on_page(request.user)))
    return redirect("operations")


@require_POST
@needs(money_acts.CHANGE)
def ask_again(request: HttpRequest, id: int) -> HttpResponseRedirect:
    """Somebody has paid for a project that X said has no money left."""
    projects = list(Project.objects.filter(pk=id))
    if not projects:
        raise Http404(f"There is no project {id}.")
    show_message(request, money_acts.go_on(projects, on_page(request.user)))
    return redirect("operations")
