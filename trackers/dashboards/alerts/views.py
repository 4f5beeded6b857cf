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
from trackers.dashboards.access import VIEW_ALERTS, needs
from trackers.dashboards.alerts.rows import notice_rows, rule_rows
from trackers.dashboards.parts import render_parts
from trackers.dashboards.words import commas
from trackers.schedule.intervals import current
from trackers.tweets.snowflake import LARGEST_ID

_RECENT_NOTICES, _LOG_PAGE_SIZE, _MAX_WAITING_COUNTED = 10, 50, 1000
# Lines of a notice; the log has all.
_MAX_NOTICE_LINES = 5


@require_safe
@needs(VIEW_ALERTS)
def alerts(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    return render_parts(
        request,
        "dashboards/alerts/list.html",
        {"list": lambda: _rules_context(now=now)},
        shared={"now": now},
        frame=lambda: {"digest": _digest_context(request)},
    )


@require_safe
@needs(VIEW_ALERTS)
def alert(request: HttpRequest, id: int) -> HttpResponse:
    rule = get_object_or_404(AlertRule, pk=id)
    now, _ = current()
    parts = {"rule": lambda: _rule_context(rule, now=now)}
    return render_parts(request, "dashboards/alerts/rule.html", parts, shared={"now": now})


@require_safe
@needs(VIEW_ALERTS)
def alert_log(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    below = _parse_before(request)
    notices = AlertNotice.objects.prefetch_related("mails").filter(pk__lt=below)[
        : _LOG_PAGE_SIZE + 1
    ]
    context = {
        "now": now,
        "notices": notice_rows(notices[:_LOG_PAGE_SIZE], now=now),
        "older": notices[_LOG_PAGE_SIZE - 1].pk if len(notices) > _LOG_PAGE_SIZE else None,
        "is_first": "before" not in request.GET,
    }
    return render(request, "dashboards/alerts/log.html", context)


def _parse_before(request: HttpRequest) -> int:
    text = request.GET.get("before")
    if text is None:
        return LARGEST_ID
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise Http404("There is no such place in the log.")
    return int(text)


def _rules_context(*, now: datetime) -> dict[str, Any]:
    lately = AlertNotice.objects.prefetch_related("mails")[:_RECENT_NOTICES]
    return {
        "rules": rule_rows(AlertRule.objects.all()[:RULES_MOST]),
        "notices": notice_rows(lately, now=now, most=_MAX_NOTICE_LINES),
        "post": _mail_status(),
    }


def _mail_status() -> dict[str, object]:
    """Whether e-mails can be sent, and how many wait."""
    waiting = AlertMail.objects.filter(state=AlertMail.State.WAITING)[:_MAX_WAITING_COUNTED].count()
    return {
        "is_set": settings.EMAIL_SERVER is not None,
        "waiting": waiting,
        "waiting_words": commas(waiting),
    }


def _rule_context(rule: AlertRule, *, now: datetime) -> dict[str, Any]:
    lately = rule.alertnotice_set.prefetch_related("mails")[:_RECENT_NOTICES]
    return {
        "rule": rule_rows([rule])[0],
        "row": rule,
        "notices": notice_rows(lately, now=now, most=_MAX_NOTICE_LINES),
        "post": _mail_status(),
    }


def _digest_context(request: HttpRequest) -> dict[str, object]:
    user = request.user
    assert isinstance(user, User)
    row = AlertDigest.objects.filter(user=user).first()
    return {"form": DigestForm(instance=row), "is_on": row is not None, "to": user.email}
