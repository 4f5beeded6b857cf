"""A person adds a subscriber, changes one, gives one a new key, replays the events of a period, and
does the acts of its page.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from trackers.dashboards.access import VIEW_SUBSCRIBERS, needs, require_permission
from trackers.dashboards.minute_fields import MinuteField
from trackers.dashboards.page_acts import act_on, form_page
from trackers.dashboards.subscribers.views import get_subscriber
from trackers.events import redelivery
from trackers.events.models import Subscriber
from trackers.events.redelivery import NoSuchBatchError
from trackers.events.set_aside import NotSetAsideError
from trackers.events.subscribers import acts
from trackers.events.subscribers.acts import ACTS, ACTS_ON_BATCHES, ADD, CHANGE, rotate_key
from trackers.events.subscribers.forms import SubscriberForm
from trackers.events.subscribers.terms import NoSuchSubscriberError
from trackers.history import on_page

_FORM_TEMPLATE = "dashboards/subscribers/form.html"


@require_POST
@needs(VIEW_SUBSCRIBERS)
def act_on_subscriber(request: HttpRequest, id: int, act: str) -> HttpResponse:
    def also() -> dict[str, UUID]:
        return {"batch": _batch_of(request)} if act in ACTS_ON_BATCHES else {}

    try:
        return act_on(request, ACTS, act, find=get_subscriber, id=id, page="subscriber", also=also)
    except (NoSuchBatchError, NotSetAsideError) as error:
        messages.error(request, str(error))
        return redirect("subscriber", id=id)


def _batch_of(request: HttpRequest) -> UUID:
    try:
        return UUID(request.POST.get("batch", ""))
    except ValueError:
        raise Http404("There is no such batch.") from None


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_SUBSCRIBERS)
@never_cache
@sensitive_post_parameters("headers", "uuid")
def add_subscriber(request: HttpRequest) -> HttpResponse:
    require_permission(request, ADD)
    form = SubscriberForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and form.store(on_page(request.user)):
        return key_page(request, form.instance, form.key, is_new=True)
    return form_page(request, _FORM_TEMPLATE, form, subscriber=form.instance)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_SUBSCRIBERS)
@never_cache
@sensitive_post_parameters("headers", "uuid")
def edit_subscriber(request: HttpRequest, id: int) -> HttpResponse:
    require_permission(request, CHANGE)
    form = SubscriberForm(request.POST or None, instance=get_subscriber(id))
    try:
        if request.method == "POST" and form.is_valid() and form.store(on_page(request.user)):
            messages.success(
                request, f"{form.instance}: changed. This applies to everything sent from now on."
            )
            return redirect("subscriber", id=id)
    except NoSuchSubscriberError as gone:
        messages.error(request, str(gone))
        return redirect("subscribers")
    return form_page(request, _FORM_TEMPLATE, form, subscriber=form.instance)


@require_http_methods(["GET", "POST"])
@needs(VIEW_SUBSCRIBERS)
@never_cache
@sensitive_variables("key")
def new_key(request: HttpRequest, id: int) -> HttpResponse:
    """The response itself shows the key, as a redirect would have to carry it. The browser then
    stays at this URL, so a GET of it redirects."""
    if request.method == "GET":
        return redirect("subscriber", id=id)
    require_permission(request, CHANGE)
    subscriber = get_subscriber(id)
    if request.POST.get("sure") != "yes":
        return render(request, "dashboards/subscribers/sure.html", {"subscriber": subscriber})
    key = rotate_key(subscriber, on_page(request.user))
    return key_page(request, subscriber, key, is_new=False)


@sensitive_variables("key")
def key_page(
    request: HttpRequest, subscriber: Subscriber, key: str, *, is_new: bool
) -> HttpResponse:
    context = {"subscriber": subscriber, "key": key, "is_new": is_new}
    return render(request, "dashboards/subscribers/key.html", context)


class ReplayForm(forms.Form):
    """The period of a replay."""

    since = MinuteField(label="From")
    until = MinuteField(label="Until (empty: now)", required=False)
    # How many it looks at; set only if the form is valid.
    events = 0

    def __init__(self, data: Any, subscriber: Subscriber) -> None:
        super().__init__(data)
        self.subscriber = subscriber

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since = cleaned.get("since")
        if since is None or self.errors:
            return cleaned
        cleaned["until"] = cleaned["until"] or timezone.now()
        if since >= cleaned["until"]:
            self.add_error("since", "This must be before “Until”, and in the past.")
            return cleaned
        try:
            most = redelivery.MOST_REPLAYED
            self.events = redelivery.count_replay(
                self.subscriber, since, cleaned["until"], most=most
            )
        except redelivery.TooManyError as error:
            self.add_error(None, str(error))
        return cleaned

    @property
    def until_now(self) -> str:
        """The exact end of the period that was counted, for the button to send."""
        until: datetime = self.cleaned_data["until"]
        return until.isoformat()


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_SUBSCRIBERS)
def replay_page(request: HttpRequest, id: int) -> HttpResponse:
    require_permission(request, CHANGE)
    subscriber = get_subscriber(id)
    form = ReplayForm((request.POST or request.GET) or None, subscriber)
    if request.method == "POST" and form.is_valid():
        period = form.cleaned_data
        done = acts.replay(
            subscriber, on_page(request.user), since=period["since"], until=period["until"]
        )
        messages.success(request, done.message)
        return redirect("subscriber", id=id)
    context = {"subscriber": subscriber, "form": form}
    return render(request, "dashboards/subscribers/replay.html", context)
