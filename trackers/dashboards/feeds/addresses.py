"""The page on which people make and revoke the secret addresses of their homes."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from trackers.dashboards.access import SOURCES, needs
from trackers.dashboards.asking import unsure
from trackers.dashboards.words import Moment, ago
from trackers.history import on_page
from trackers.timelines.followers import Home, follower_of, homes_of
from trackers.timelines.models import Follower
from trackers.tokens.acts import make_address as make
from trackers.tokens.acts import revoke_addresses
from trackers.tokens.models import FeedAddress

AGAIN = "The old address stops working at once. Create a new one?"
REVOKE = "Readers with this address will be refused. Revoke it?"


@dataclass(frozen=True, slots=True)
class Line:
    """A home, and since when it has an address."""

    id: int
    name: str
    made: Moment | None


@require_safe
@needs(SOURCES)
def feed_addresses(request: HttpRequest) -> HttpResponse:
    return page(request)


@require_http_methods(["GET", "POST"])
@needs(SOURCES)
@never_cache
@sensitive_variables("secret")
def make_address(request: HttpRequest, follower: int) -> HttpResponse:
    """The response itself shows the addresses, as a redirect would have to carry them. The browser
    then stays at this URL, so a GET of it redirects."""
    if request.method == "GET":
        return redirect("feeds")
    mine = owned(request, follower)
    if FeedAddress.objects.filter(pk=follower).exists() and (
        asks := unsure(request, AGAIN, button="New address", back=reverse("feeds"))
    ):
        return asks
    secret = make(Follower.objects.get(pk=follower), on_page(request.user))
    paths = {
        "atom": reverse("feed-home-atom", args=[secret]),
        "json": reverse("feed-home-json", args=[secret]),
        "source": reverse("feed-source-atom", args=[secret, 0]).replace("/0.atom", "/NUMBER.atom"),
    }
    told = {name: request.build_absolute_uri(path) for name, path in paths.items()}
    return page(request, told={"name": mine.name, **told})


@require_POST
@needs(SOURCES)
def revoke_address(request: HttpRequest, follower: int) -> HttpResponse:
    owned(request, follower)
    if asks := unsure(request, REVOKE, button="Revoke", back=reverse("feeds")):
        return asks
    revoke_addresses([Follower.objects.get(pk=follower)], on_page(request.user))
    return redirect("feeds")


def owned(request: HttpRequest, follower: int) -> Home:
    for one in homes_of(request.user):
        if one.follower_id == follower:
            return one
    raise Http404("You have no such home.")


def page(request: HttpRequest, *, told: dict[str, str] | None = None) -> HttpResponse:
    now = timezone.now()
    homes = [(follower_of(one, request.user), one.name) for one in homes_of(request.user)]
    there = FeedAddress.objects.in_bulk([follower for follower, _ in homes])
    lines = [
        Line(id, name, ago(there[id].made_at, now=now) if id in there else None)
        for id, name in homes
    ]
    shown = {"now": now, "lines": lines, "told": told}
    return render(request, "dashboards/feeds/page.html", shown)
