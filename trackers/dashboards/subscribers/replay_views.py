"""The page on which a person replays the events of a period: first it says how many there are,
then it offers a button."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import VIEW_SUBSCRIBERS, needs, require_permission
from trackers.dashboards.subscribers.views import get_subscriber
from trackers.events import redelivery
from trackers.events.models import Subscriber
from trackers.events.subscribers import acts
from trackers.events.subscribers.acts import CHANGE
from trackers.history import on_page

_MINUTE_FORMAT = "%Y-%m-%dT%H:%M"


class MinuteInput(forms.DateTimeInput):
    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format=_MINUTE_FORMAT)


class ReplayForm(forms.Form):
    """`events`: how many a replay of this period looks at; set only if the form is valid."""

    since = forms.DateTimeField(label="From, UTC", widget=MinuteInput)
    until = forms.DateTimeField(label="Until, UTC (empty: now)", widget=MinuteInput, required=False)
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
    context = {"now": timezone.now(), "subscriber": subscriber, "form": form}
    return render(request, "dashboards/subscribers/replay.html", context)
