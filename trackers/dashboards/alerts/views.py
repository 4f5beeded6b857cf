"""The pages of alerts: the rules, one rule, and the log of what they raised."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from trackers.alerts.forms import DigestForm
from trackers.alerts.models import RULES_MOST, AlertDigest, AlertMail, AlertNotice, AlertRule
from trackers.dashboards.access import ALERTS, needs
from trackers.dashboards.alerts.line import notice_lines, rule_lines
from trackers.dashboards.parts import show
from trackers.dashboards.words import counted
from trackers.schedule.intervals import current
from trackers.tweets.snowflake import LARGEST_ID

LATELY, A_PAGE, WAITING_MOST = 10, 50, 1000
# Lines of a notice; the log has all.
FEW = 5


@require_safe
@needs(ALERTS)
def alerts(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    return show(
        request,
        "dashboards/alerts/list.html",
        {"list": lambda: listed(now=now)},
        shared={"now": now},
        frame=lambda: {"digest": digest_of(request)},
    )


@require_safe
@needs(ALERTS)
def alert(request: HttpRequest, id: int) -> HttpResponse:
    rule = get_object_or_404(AlertRule, pk=id)
    now, _ = current()
    parts = {"rule": lambda: one_rule(rule, now=now)}
    return show(request, "dashboards/alerts/rule.html", parts, shared={"now": now})


@require_safe
@needs(ALERTS)
def alert_log(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    below = before(request)
    found = AlertNotice.objects.prefetch_related("mails").filter(pk__lt=below)[: A_PAGE + 1]
    told = {
        "now": now,
        "notices": notice_lines(found[:A_PAGE], now=now),
        "older": found[A_PAGE - 1].pk if len(found) > A_PAGE else None,
        "is_first": "before" not in request.GET,
    }
    return render(request, "dashboards/alerts/log.html", told)


def before(request: HttpRequest) -> int:
    given = request.GET.get("before")
    if given is None:
        return LARGEST_ID
    if not (given.isascii() and given.isdecimal() and len(given) <= 18):
        raise Http404("There is no such place in the log.")
    return int(given)


def listed(*, now: datetime) -> dict[str, Any]:
    lately = AlertNotice.objects.prefetch_related("mails")[:LATELY]
    return {
        "rules": rule_lines(AlertRule.objects.all()[:RULES_MOST]),
        "notices": notice_lines(lately, now=now, most=FEW),
        "post": post(),
    }


def post() -> dict[str, object]:
    """Whether e-mails can be sent, and how many wait."""
    waiting = AlertMail.objects.filter(state=AlertMail.State.WAITING)[:WAITING_MOST].count()
    return {
        "is_set": settings.EMAIL_SERVER is not None,
        "waiting": waiting,
        "waiting_words": counted(waiting),
    }


def one_rule(rule: AlertRule, *, now: datetime) -> dict[str, Any]:
    lately = rule.alertnotice_set.prefetch_related("mails")[:LATELY]
    return {
        "rule": rule_lines([rule])[0],
        "row": rule,
        "notices": notice_lines(lately, now=now, most=FEW),
        "post": post(),
    }


def digest_of(request: HttpRequest) -> dict[str, object]:
    user = request.user
    assert isinstance(user, User)
    row = AlertDigest.objects.filter(user=user).first()
    return {"form": DigestForm(instance=row), "is_on": row is not None, "to": user.email}
