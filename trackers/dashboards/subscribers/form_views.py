"""The pages on which a person adds a subscriber, changes one, or gives one a new key."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import SUBSCRIBERS, demand, needs
from trackers.dashboards.subscribers.views import find
from trackers.events.models import Subscriber
from trackers.events.subscribers.acts import ADD, CHANGE, rotate_key
from trackers.events.subscribers.forms import SubscriberForm
from trackers.events.subscribers.terms import NoSuchSubscriberError
from trackers.history import on_page
from trackers.schedule.intervals import current


@require_http_methods(["GET", "HEAD", "POST"])
@needs(SUBSCRIBERS)
@never_cache
@sensitive_post_parameters("headers", "uuid")
def add_subscriber(request: HttpRequest) -> HttpResponse:
    demand(request, ADD)
    form = SubscriberForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and form.store(on_page(request.user)):
        return with_key(request, form.instance, form.key, is_new=True)
    return filled_in(request, form)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(SUBSCRIBERS)
@never_cache
@sensitive_post_parameters("headers", "uuid")
def edit_subscriber(request: HttpRequest, id: int) -> HttpResponse:
    demand(request, CHANGE)
    form = SubscriberForm(request.POST or None, instance=find(id))
    try:
        if request.method == "POST" and form.is_valid() and form.store(on_page(request.user)):
            messages.success(
                request, f"{form.instance}: changed. This applies to everything sent from now on."
            )
            return redirect("subscriber", id=id)
    except NoSuchSubscriberError as gone:
        messages.error(request, str(gone))
        return redirect("subscribers")
    return filled_in(request, form)


@require_http_methods(["GET", "POST"])
@needs(SUBSCRIBERS)
@never_cache
@sensitive_variables("key")
def new_key(request: HttpRequest, id: int) -> HttpResponse:
    """The response itself shows the key, as a redirect would have to carry it. The browser then
    stays at this URL, so a GET of it redirects."""
    if request.method == "GET":
        return redirect("subscriber", id=id)
    demand(request, CHANGE)
    subscriber = find(id)
    if request.POST.get("sure") != "yes":
        now, _ = current()
        return render(
            request, "dashboards/subscribers/sure.html", {"now": now, "subscriber": subscriber}
        )
    key = rotate_key(subscriber, on_page(request.user))
    return with_key(request, subscriber, key, is_new=False)


@sensitive_variables("key")
def with_key(
    request: HttpRequest, subscriber: Subscriber, key: str, *, is_new: bool
) -> HttpResponse:
    now, _ = current()
    told = {"now": now, "subscriber": subscriber, "key": key, "is_new": is_new}
    return render(request, "dashboards/subscribers/key.html", told)


def filled_in(request: HttpRequest, form: SubscriberForm) -> HttpResponse:
    now, _ = current()
    status = 400 if form.errors else 200
    told = {"now": now, "form": form, "subscriber": form.instance}
    return render(request, "dashboards/subscribers/form.html", told, status=status)
