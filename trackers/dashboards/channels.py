"""The pages of channels: where alerts go. No page shows an address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers.channels.acts import ADD, CHANGE, acts_on
from trackers.channels.forms import ChannelForm
from trackers.channels.models import Channel, ChannelMessage, own_limits
from trackers.channels.shapes import SHAPES, TYPED_SHAPES
from trackers.dashboards.access import needs, require_permission
from trackers.dashboards.page_acts import act_on, form_page
from trackers.dashboards.parts import render_parts
from trackers.dashboards.words import Moment, ago, ahead
from trackers.history import on_page
from trackers.schedule.intervals import current

VIEW_CHANNELS = "trackers.view_channel"
_FORM_TEMPLATE = "dashboards/channels/form.html"
_RECENT_MESSAGES = 20
_BADGES = {
    "new": ("new", ""),
    "working": ("works", "ready"),
    "failing": ("fails", "bad"),
    "stopped": ("stopped", "bad"),
    "muted": ("muted", "paused"),
}


@dataclass(frozen=True, slots=True)
class ChannelRow:
    id: int
    name: str
    service: str
    place: str
    is_own: bool
    badge: str
    mood: str
    reason: str
    since: Moment | None  # since when it fails
    sent: Moment | None
    again: Moment | None  # when it is tried again
    muted_until: Moment | None


@dataclass(frozen=True, slots=True)
class MessageRow:
    title: str
    state: str
    mood: str
    made: Moment
    sent: Moment | None
    error: str
    is_test: bool


@require_safe
@needs(VIEW_CHANNELS)
def channels(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    parts = {"list": lambda: _list_context(request, now=now)}
    return render_parts(request, "dashboards/channels/list.html", parts, shared={"now": now})


@require_safe
@needs(VIEW_CHANNELS)
def channel(request: HttpRequest, id: int) -> HttpResponse:
    channel = _get_channel(request, id)
    now, _ = current()
    parts = {"channel": lambda: _channel_context(request, channel, now=now)}
    return render_parts(request, "dashboards/channels/detail.html", parts, shared={"now": now})


@require_POST
@needs(VIEW_CHANNELS)
def act_on_channel(request: HttpRequest, id: int, act: str) -> HttpResponse:
    channel = _get_channel(request, id)
    return act_on(request, acts_on(channel), act, find=lambda _: channel, id=id, page="channel")


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_CHANNELS)
@never_cache
@sensitive_post_parameters()
def add_channel(request: HttpRequest) -> HttpResponse:
    """First the service, then the form that it has. `own`: one's own, which is also what those
    get who may add no other."""
    is_own = "own" in request.GET or not request.user.has_perm(ADD)
    kind = request.GET.get("kind", "")
    if kind not in TYPED_SHAPES:
        kinds = [(name, shape.label) for name, shape in TYPED_SHAPES.items()]
        context = {"kinds": kinds, "is_own": is_own}
        return render(request, "dashboards/channels/kinds.html", context)
    return _form_or_stored(request, ChannelForm(request.POST or None, kind=kind, is_own=is_own))


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_CHANNELS)
@never_cache
@sensitive_post_parameters()
def edit_channel(request: HttpRequest, id: int) -> HttpResponse:
    channel = _get_channel(request, id)
    if not channel.is_own:
        require_permission(request, CHANGE)
    if channel.kind not in TYPED_SHAPES:
        raise PermissionDenied("A browser gives its own address. Its person can end it.")
    return _form_or_stored(
        request, ChannelForm(request.POST or None, kind=channel.kind, channel=channel)
    )


def _form_or_stored(request: HttpRequest, form: ChannelForm) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        stored = form.store(on_page(request.user))
        if stored is not None:
            done = "added. Send a test to see that it arrives" if form.is_new else "changed"
            messages.success(request, f"{stored}: {done}.")
            return redirect("channel", id=stored.pk)
    return form_page(
        request,
        _FORM_TEMPLATE,
        form,
        channel=form.channel,
        service=SHAPES[form.kind].label,
        has_secrets=bool(form.errors) and form.has_secrets,
    )


def _get_channel(request: HttpRequest, id: int) -> Channel:
    # Without the address: it is not shown, and may be unreadable.
    return get_object_or_404(Channel.objects.seen_by(request.user).defer("address"), pk=id)


def _channel_context(request: HttpRequest, channel: Channel, *, now: datetime) -> dict[str, Any]:
    may = {name: request.user.has_perm(act.permission) for name, act in acts_on(channel).items()}
    return {
        "channel": _channel_row(channel, now=now),
        "may": may,
        "rules": list(channel.rules.seen_by(request.user)),
        "messages_sent": [
            _message_row(message, now=now)
            for message in channel.messages.order_by("-pk")[:_RECENT_MESSAGES]
        ],
    }


def _list_context(request: HttpRequest, *, now: datetime) -> dict[str, Any]:
    seen = Channel.objects.seen_by(request.user).defer("address")
    return {
        "channels": [_channel_row(row, now=now) for row in seen],
        "may_own": own_limits().channels > 0,
    }


def _channel_row(channel: Channel, *, now: datetime) -> ChannelRow:
    badge, mood = _BADGES[channel.state]
    is_failing = channel.failing_since and not channel.stopped_at
    return ChannelRow(
        id=channel.pk,
        name=channel.name,
        service=channel.get_kind_display(),
        place=channel.place,
        is_own=channel.is_own,
        badge=badge,
        mood=mood,
        reason=channel.reason,
        since=ago(channel.failing_since, now=now) if channel.failing_since else None,
        sent=ago(channel.sent_at, now=now) if channel.sent_at else None,
        again=ahead(channel.next_at, now=now) if is_failing else None,
        muted_until=ahead(channel.muted_until, now=now)
        if channel.muted_until and channel.muted_until > now
        else None,
    )


def _message_row(message: ChannelMessage, *, now: datetime) -> MessageRow:
    moods = {"sent": "ready", "given_up": "bad", "waiting": "warn"}
    return MessageRow(
        title=message.title,
        state="waits" if message.state == "waiting" else message.get_state_display().lower(),
        mood=moods[message.state],
        made=ago(message.made_at, now=now),
        sent=ago(message.sent_at, now=now) if message.sent_at else None,
        error=message.error,
        is_test=message.is_test,
    )
