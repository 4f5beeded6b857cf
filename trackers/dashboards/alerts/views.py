"""The pages of alerts: the rules, one rule, and the log of what they raised."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.db.models import F, Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from trackers.alerts.acts import acts_on
from trackers.alerts.digest_form import DigestForm
from trackers.alerts.models import RULES_MOST, AlertDigest, AlertMail, AlertNotice, AlertRule
from trackers.alerts.mutes import muted_until
from trackers.alerts.unread import mark_read, place_of
from trackers.channels.models import Channel, ChannelMessage, own_limits
from trackers.dashboards.access import VIEW_ALERTS, needs
from trackers.dashboards.alerts.rows import mute_rows, notice_rows, rule_rows
from trackers.dashboards.parts import render_parts
from trackers.dashboards.words import ahead, commas
from trackers.schedule.intervals import current
from trackers.tweets.snowflake import LARGEST_ID

_RECENT_NOTICES, _LOG_PAGE_SIZE, _MAX_WAITING_COUNTED = 10, 50, 1000
# Lines of a notice; the log has all.
_MAX_NOTICE_LINES = 5
_CHANNELS = Prefetch("channels", Channel.objects.defer("address"))
_SENT = (
    "mails",
    Prefetch(
        "messages",
        ChannelMessage.objects.select_related("channel").defer("lines", "channel__address"),
    ),
)


@require_safe
@needs(VIEW_ALERTS)
def alerts(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    return render_parts(
        request,
        "dashboards/alerts/list.html",
        {"list": lambda: _rules_context(request, now=now)},
        shared={"now": now},
        frame=lambda: {"digest": _digest_context(request)},
    )


@require_safe
@needs(VIEW_ALERTS)
def alert(request: HttpRequest, id: int) -> HttpResponse:
    rule = get_object_or_404(AlertRule.objects.seen_by(request.user), pk=id)
    now, _ = current()
    parts = {"rule": lambda: _rule_context(request, rule, now=now)}
    return render_parts(request, "dashboards/alerts/rule.html", parts, shared={"now": now})


@require_safe
@needs(VIEW_ALERTS)
def alert_log(request: HttpRequest) -> HttpResponse:
    """Whoever opens it has read all; what was unread is marked this once."""
    now, _ = current()
    below = _parse_before(request)
    notices = _notices_for(request).filter(pk__lt=below)[: _LOG_PAGE_SIZE + 1]
    is_opened = bool(notices) and request.method == "GET" and "before" not in request.GET
    person = _person(request)
    read = mark_read(person, notices[0].pk) if is_opened else place_of(person)
    rows = notice_rows(notices[:_LOG_PAGE_SIZE], now=now, reader=person, read=read)
    context = {
        "now": now,
        "notices": rows,
        "older": notices[_LOG_PAGE_SIZE - 1].pk if len(notices) > _LOG_PAGE_SIZE else None,
        "is_first": "before" not in request.GET,
    }
    return render(request, "dashboards/alerts/log.html", context)


@require_POST
@needs(VIEW_ALERTS)
def alerts_read(request: HttpRequest) -> HttpResponseRedirect:
    """Up to the newest that the page showed: what came since stays unread."""
    until = request.POST.get("until", "")
    if not _is_id(until):
        raise SuspiciousOperation("Until which alert?")
    mark_read(_person(request), int(until))
    return redirect("alerts")


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _notices_for(request: HttpRequest) -> QuerySet[AlertNotice]:
    seen = AlertNotice.objects.seen_by(request.user)
    return seen.select_related("rule").prefetch_related(*_SENT)


def _parse_before(request: HttpRequest) -> int:
    text = request.GET.get("before")
    if text is None:
        return LARGEST_ID
    if not _is_id(text):
        raise Http404("There is no such place in the log.")
    return int(text)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18


def _rules_context(request: HttpRequest, *, now: datetime) -> dict[str, Any]:
    lately = _notices_for(request)[:_RECENT_NOTICES]
    person = _person(request)
    read = place_of(person)
    rows = notice_rows(lately, now=now, reader=person, read=read, most=_MAX_NOTICE_LINES)
    return {
        "rules": rule_rows(_rules_for(request), person),
        "may_own": own_limits().rules > 0,
        "notices": rows,
        "newest": rows[0].id if rows else 0,
        "muted": mute_rows(person, now=now),
        "post": _mail_status(),
    }


def _rules_for(request: HttpRequest) -> QuerySet[AlertRule]:
    """The person's own first."""
    seen = AlertRule.objects.seen_by(request.user).select_related("owner")
    own_first = F("owner").asc(nulls_last=True)
    return seen.order_by(own_first, "name", "pk").prefetch_related(_CHANNELS)[:RULES_MOST]


def _mail_status() -> dict[str, object]:
    """Whether e-mails can be sent, and how many wait."""
    waiting = AlertMail.objects.filter(state=AlertMail.State.WAITING)[:_MAX_WAITING_COUNTED].count()
    return {
        "is_set": settings.EMAIL_SERVER is not None,
        "waiting": waiting,
        "waiting_words": commas(waiting),
    }


def _rule_context(request: HttpRequest, rule: AlertRule, *, now: datetime) -> dict[str, Any]:
    person = _person(request)
    read = place_of(person)
    lately = rule.alertnotice_set.select_related("rule").prefetch_related(*_SENT)[:_RECENT_NOTICES]
    until = muted_until(rule, now=now)
    return {
        "rule": rule_rows([rule], person)[0],
        "muted_until": ahead(until, now=now) if until else None,
        "row": rule,
        "may": {name: request.user.has_perm(act.permission) for name, act in acts_on(rule).items()},
        "notices": notice_rows(lately, now=now, reader=person, read=read, most=_MAX_NOTICE_LINES),
        "post": _mail_status(),
    }


def _digest_context(request: HttpRequest) -> dict[str, object]:
    user = _person(request)
    row = AlertDigest.objects.filter(user=user).first()
    proposed = request.GET.get("report", "").replace("\0", "")[:120]
    return {
        "form": DigestForm(user, instance=row, proposed=proposed),
        "row": row,
        "to": user.email,
        "set": f"/sets/{row.report}/" if row and row.report else "",
    }
