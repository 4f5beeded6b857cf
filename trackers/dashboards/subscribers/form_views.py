"""The pages on which a person adds a subscriber, changes one, or gives one a new key."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import VIEW_SUBSCRIBERS, needs, require_permission
from trackers.dashboards.subscribers.views import get_subscriber
from trackers.events.models import Subscriber
from trackers.events.subscribers.acts import ADD, CHANGE, rotate_key
from trackers.events.subscribers.forms import SubscriberForm
from trackers.events.subscribers.terms import NoSuchSubscriberError
from trackers.history import on_page
from trackers.schedule.intervals import current


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_SUBSCRIBERS)
@never_cache
@sensitive_post_parameters("headers", "uuid")
def add_subscriber(request: HttpRequest) -> HttpResponse:
    require_permission(request, ADD)
    form = SubscriberForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and form.store(on_page(request.user)):
        return key_page(request, form.instance, form.key, is_new=True)
    return _subscriber_form_page(request, form)


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
    return _subscriber_form_page(request, form)


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
        now, _ = current()
        return render(
            request, "dashboards/subscribers/sure.html", {"now": now, "subscriber": subscriber}
        )
    key = rotate_key(subscriber, on_page(request.user))
    return key_page(request, subscriber, key, is_new=False)


@sensitive_variables("key")
def key_page(
    request: HttpRequest, subscriber: Subscriber, key: str, *, is_new: bool
) -> HttpResponse:
    now, _ = current()
    context = {"now": now, "subscriber": subscriber, "key": key, "is_new": is_new}
    return render(request, "dashboards/subscribers/key.html", context)


def _subscriber_form_page(request: HttpRequest, form: SubscriberForm) -> HttpResponse:
    now, _ = current()
    status = 400 if form.errors else 200
    context = {"now": now, "form": form, "subscriber": form.instance}
    return render(request, "dashboards/subscribers/form.html", context, status=status)
