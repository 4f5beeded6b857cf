"""What a person may do with one subscriber from its page: a POST, and back with a message."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers.dashboards.access import VIEW_SUBSCRIBERS, needs
from trackers.dashboards.page_acts import act_on
from trackers.dashboards.subscribers.views import get_subscriber
from trackers.events.redelivery import NoSuchBatchError
from trackers.events.subscribers.acts import ACTS


@require_POST
@needs(VIEW_SUBSCRIBERS)
def act_on_subscriber(request: HttpRequest, id: int, act: str) -> HttpResponse:
    def also() -> dict[str, UUID]:
        return {"batch": _batch_of(request)} if act == "redeliver" else {}

    try:
        return act_on(request, ACTS, act, find=get_subscriber, id=id, page="subscriber", also=also)
    except NoSuchBatchError as error:
        messages.error(request, str(error))
        return redirect("subscriber", id=id)


def _batch_of(request: HttpRequest) -> UUID:
    try:
        return UUID(request.POST.get("batch", ""))
    except ValueError:
        raise Http404("There is no such batch.") from None
