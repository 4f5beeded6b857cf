"""What a person may do with a rule, and with their own digest: a POST, and back with a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from trackers import history
from trackers.alerts.digest import arrange, stop
from trackers.alerts.forms import DigestForm
from trackers.alerts.models import AlertDigest, AlertRule
from trackers.alerts.trial import try_out
from trackers.dashboards.access import ALERTS, demand, needs
from trackers.dashboards.alerts.form_views import CHANGE, DELETE
from trackers.dashboards.asking import unsure


@dataclass(frozen=True, slots=True)
class Done:
    said: str
    is_well: bool = True


@dataclass(frozen=True, slots=True)
class Act:
    do: Callable[[AlertRule], Done]
    what: str
    permission: str = CHANGE
    leaves: bool = False
    # {name}: the rule's.
    asks: str = ""


@require_POST
@needs(ALERTS)
def act_on_alert(request: HttpRequest, id: int, act: str) -> HttpResponse:
    chosen = ACTS.get(act)
    if chosen is None:
        raise Http404(f"There is no action {act}.")
    demand(request, chosen.permission)
    rule = get_object_or_404(AlertRule, pk=id)
    if chosen.asks:
        asked, back = chosen.asks.format(name=rule.name), reverse("alert", args=[id])
        if page := unsure(request, asked, button=act.capitalize(), back=back):
            return page
    flag = history.DELETION if chosen.leaves else history.CHANGE
    history.record(request.user, [rule], f"{chosen.what}, on its page.", flag=flag)
    done = chosen.do(rule)
    tell = messages.success if done.is_well else messages.error
    tell(request, f"{rule}: {done.said}")
    return redirect("alerts") if chosen.leaves else redirect("alert", id=id)


def test(rule: AlertRule) -> Done:
    """The person waits for the mail server, at most EMAIL_TIMEOUT for each answer."""
    tested = try_out(
        rule, settings.EMAIL_SERVER, public_url=settings.PUBLIC_URL, now=timezone.now()
    )
    return Done(tested.said, tested.is_well)


def switch_on(rule: AlertRule) -> Done:
    AlertRule.objects.filter(pk=rule.pk).update(enabled=True)
    return Done("switched on. It is checked every minute.")


def switch_off(rule: AlertRule) -> Done:
    AlertRule.objects.filter(pk=rule.pk).update(enabled=False)
    return Done("switched off. Its log is kept.")


def remove(rule: AlertRule) -> Done:
    rule.delete()
    return Done("removed. Its log is kept.")


ACTS = {
    "test": Act(test, "Tested"),
    "on": Act(switch_on, "Switched on"),
    "off": Act(switch_off, "Switched off"),
    "remove": Act(
        remove,
        "Removed",
        DELETE,
        leaves=True,
        asks="Remove the rule {name}? Its log is kept.",
    ),
}


@require_POST
@needs(ALERTS)
def alert_digest(request: HttpRequest) -> HttpResponseRedirect:
    """One's own: begin it, change it, end it."""
    user = request.user
    assert isinstance(user, User)
    if "stop" in request.POST:
        stop(user)
        messages.success(request, "You will no longer get the daily e-mail.")
        return redirect("alerts")
    form = DigestForm(request.POST, instance=AlertDigest.objects.filter(user=user).first())
    if not user.email:
        messages.error(request, NO_ADDRESS)
    elif form.is_valid():
        row = arrange(user, **form.cleaned_data, now=timezone.now())
        history.record(user, [row], "Set up on the page of alerts.")
        messages.success(request, f"{user.email} gets a daily e-mail at {row.hour:02}:00 UTC.")
    else:
        messages.error(request, "An hour is a number from 0 to 23.")
    return redirect("alerts")


NO_ADDRESS = "Your account has no e-mail address. An owner can enter it in the admin, under Users."
