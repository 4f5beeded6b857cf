"""What a person may do with one subscriber from its page: a POST, and back with a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import SUBSCRIBERS, demand, needs
from trackers.dashboards.asking import unsure
from trackers.dashboards.subscribers.views import CHANGE, DELETE, find
from trackers.dashboards.words import counted
from trackers.events import again
from trackers.events.models import Subscriber
from trackers.events.subscribers import standing
from trackers.events.subscribers.standings import standing_of
from trackers.events.subscribers.subscribe import empty, remove


@dataclass(frozen=True, slots=True)
class Act:
    """`do` returns a sentence about what was done; `asks` and `button` are those of the question
    before it, in which {name} and {queued} are the subscriber's."""

    do: Callable[[Subscriber, HttpRequest], str]
    permission: str = CHANGE
    leaves: bool = False
    asks: str = ""
    button: str = ""


@require_POST
@needs(SUBSCRIBERS)
def act_on_subscriber(request: HttpRequest, id: int, act: str) -> HttpResponse:
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"There is no action {act}.")
    demand(request, chosen.permission)
    subscriber = find(id)
    if chosen.asks:
        books = standing_of(subscriber, now=timezone.now()).books
        asked = chosen.asks.format(name=subscriber.name, queued=counted(books.queued))
        back = reverse("subscriber", args=[id])
        if page := unsure(request, asked, button=chosen.button, back=back):
            return page
    try:
        said = chosen.do(subscriber, request)
        flag = history.DELETION if chosen.leaves else history.CHANGE
        history.record(request.user, [subscriber], f"{act.capitalize()}, on its page.", flag=flag)
        messages.success(request, f"{subscriber}: {said}")
    except again.NoSuchBatchError as error:
        messages.error(request, f"{subscriber}: {error}")
    return redirect("subscribers") if chosen.leaves else redirect("subscriber", id=id)


def pause(subscriber: Subscriber, _: HttpRequest) -> str:
    standing.pause(subscriber)
    return "Paused. Its events are kept."


def resume(subscriber: Subscriber, _: HttpRequest) -> str:
    standing.resume(subscriber)
    return "Resumed. Waiting events are being sent."


def test(subscriber: Subscriber, _: HttpRequest) -> str:
    again.test(subscriber)
    return "Sent a test. The result appears below."


def redeliver(subscriber: Subscriber, request: HttpRequest) -> str:
    try:
        uid = UUID(request.POST.get("batch", ""))
    except ValueError:
        raise Http404("There is no such batch.") from None
    events = again.redeliver(subscriber, uid)
    return f"{events:,} event{pluralize(events)} of that batch will be delivered again."


def drop(subscriber: Subscriber, _: HttpRequest) -> str:
    events = empty(subscriber)
    return f"{events:,} event{pluralize(events)} dropped."


def forget(subscriber: Subscriber, _: HttpRequest) -> str:
    events = remove(subscriber)
    return f"Removed, with {events:,} waiting event{pluralize(events)}."


ACTS = {
    "pause": Act(pause),
    "resume": Act(resume),
    "test": Act(test),
    "redeliver": Act(redeliver),
    "drop": Act(
        drop,
        asks="Drop the {queued} events waiting for {name}? They will not be delivered.",
        button="Drop waiting events",
    ),
    "remove": Act(
        forget,
        DELETE,
        leaves=True,
        asks="Remove {name}? The {queued} events waiting for it are dropped.",
        button="Remove",
    ),
}
