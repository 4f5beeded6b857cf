"""How a person reads times: proposed by the browser, confirmed once, and in use for each page that
the person asks for. Feeds, the API and files are no pages, and stay with UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms import ModelForm, Select
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import ViewFunction
from trackers.history import on_page
from trackers.tokens import acts
from trackers.tokens.models import TimeFormat
from tweetwatch import notation
from tweetwatch.notation import Notation, is_known_zone, known_zones

_UTC = "UTC"
# Only these continents and oceans are offered: the rest are other names for the same.
_AREAS = (
    *("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia"),
    *("Europe", "Indian", "Pacific"),
)


class TimesMiddleware:
    """Sets the zone of the thread for a page, and sets it back whatever happens."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            timezone.deactivate()
            notation.use(Notation())

    def process_view(
        self, request: HttpRequest, view_func: ViewFunction, view_args: Any, view_kwargs: Any
    ) -> None:
        # What is open without a session is for programs, and for strangers: it reads none.
        if not getattr(view_func, "login_required", True):
            return
        if (chosen := getattr(request.user, "time_format", None)) is not None:
            notation.use(chosen.notation())
            timezone.activate(chosen.notation().zone)


class TimesForm(ModelForm):
    class Meta:
        model = TimeFormat
        fields = ("zone", "dates", "hours", "week_start")
        labels = {"dates": "Dates", "hours": "Times"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = _zones()
        zone = str(self.initial.get("zone", ""))
        if is_known_zone(zone) and not any(
            zone == name for _, names in offered for name, _ in names
        ):
            offered = (("By another name", ((zone, zone),)), *offered)
        self.fields["zone"].widget = Select(choices=offered)
        self.fields["week_start"].required = False

    def clean_zone(self) -> str:
        zone: str = self.cleaned_data["zone"]
        if not is_known_zone(zone):
            raise ValidationError("No such time zone is known here. Choose the one of a city.")
        return zone

    def clean_week_start(self) -> int:
        """As it was, where a browser does not propose one."""
        given = self.cleaned_data["week_start"]
        return self.instance.week_start if given in (None, "") else int(given)


@cache
def _zones() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """By area, as groups of a list to choose from."""
    named = sorted(zone for zone in known_zones() if zone.partition("/")[0] in _AREAS)
    by_area = groupby(named, key=lambda zone: zone.partition("/")[0])
    groups = tuple((area, _as_choices(zones)) for area, zones in by_area)
    return (("Everywhere", ((_UTC, _UTC),)), *groups)


def _as_choices(zones: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((zone, zone.partition("/")[2].replace("_", " ")) for zone in zones)


@require_http_methods(["GET", "HEAD", "POST"])
def times(request: HttpRequest) -> HttpResponse:
    """The page to choose on, and where the browser's proposal is confirmed."""
    user = cast(User, request.user)
    now = getattr(user, "time_format", None) or TimeFormat(user=user, zone=_UTC)
    form = TimesForm(request.POST or None, instance=now, initial=_proposed(request))
    if request.method == "POST" and form.is_valid():
        done = acts.set_time_format(user, on_page(user), **form.cleaned_data)
        messages.success(request, done.message)
        # As it is: `redirect` would look for a page by that name first.
        return HttpResponseRedirect(_back(request))
    context = {"form": form, "next": request.POST.get("next", "")}
    return render(request, "dashboards/account/times.html", context)


def _proposed(request: HttpRequest) -> dict[str, str]:
    """What the address names, as the link of the proposal does."""
    named = {name: request.GET.get(name, "") for name in TimesForm.Meta.fields}
    return named if is_known_zone(named["zone"]) else {}


def _back(request: HttpRequest) -> str:
    page = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        page, {request.get_host()}, require_https=request.is_secure()
    )
    return page if is_ours else reverse("account")
