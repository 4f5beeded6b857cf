"""What a person may do with a rule, and with their own digest: a POST, and back with a message."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from trackers.alerts.acts import ACTS, arrange_digest, stop_digest
from trackers.alerts.models import AlertRule
from trackers.dashboards.access import VIEW_ALERTS, needs
from trackers.dashboards.page_acts import act_on, show_message
from trackers.history import on_page


@require_POST
@needs(VIEW_ALERTS)
def act_on_alert(request: HttpRequest, id: int, act: str) -> HttpResponse:
    return act_on(request, ACTS, act, find=_get_rule, id=id, page="alert")


def _get_rule(id: int) -> AlertRule:
    return get_object_or_404(AlertRule, pk=id)


@require_POST
@needs(VIEW_ALERTS)
def alert_digest(request: HttpRequest) -> HttpResponseRedirect:
    """One's own: begin it, change it, end it."""
    actor = on_page(request.user)
    if "stop" in request.POST:
        show_message(request, stop_digest(actor))
    else:
        show_message(request, arrange_digest(request.POST, actor))
    return redirect("alerts")
