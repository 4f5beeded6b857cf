"""Everything is paused, after a question, and resumed; a queue is resumed; X is asked again."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.page_acts import show_message
from trackers.history import on_page
from trackers.jobs import acts
from trackers.jobs.acts import CHANGE_QUEUE, resume_queues
from trackers.jobs.models import Queue
from trackers.jobs.pausing import paused_all
from trackers.money import acts as money_acts
from trackers.money.models import Project


@require_http_methods(["GET", "HEAD", "POST"])
@needs(CHANGE_QUEUE)
def pause_everything(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        because = request.POST.get("because", "")
        done = acts.pause_everything(on_page(request.user), because=because)
        # If it is done, the head of the page says so.
        if not done.is_done:
            show_message(request, done)
        return redirect("operations")
    queues = list(Queue.objects.all())
    context = {
        "running": [queue.name for queue in queues if not queue.paused],
        "paused": [queue.name for queue in queues if queue.paused],
    }
    return render(request, "dashboards/operations/pause.html", context)


@require_POST
@needs(CHANGE_QUEUE)
def resume_everything(request: HttpRequest) -> HttpResponse:
    show_message(request, acts.resume_everything(on_page(request.user)))
    return redirect("operations")


@require_safe
@needs(VIEW_TWEETS)
def paused_now(request: HttpRequest) -> HttpResponse:
    """The line at the head of each page, and the word and the number of unread alerts in its menu,
    polled now and then by pages with tweets, which are not fresh meanwhile."""
    return render(request, "dashboards/operations/paused_now.html")


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
