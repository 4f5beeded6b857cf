"""Feeds for readers elsewhere, and the page on which people make and revoke their secret addresses.

With a person's secret address anybody reads what that person may see: the home, while it is theirs
or their team's, sources, and saved views. Any other such request is answered as if the page did not
exist. The secret is part of the path: `tweetwatch.log_lines` keeps it out of the logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import http_date
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import (
    conditional_page,
    require_http_methods,
    require_POST,
    require_safe,
)

from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs
from trackers.dashboards.feeds.contents import (
    WRITERS,
    FeedContents,
    home_contents,
    source_contents,
    view_contents,
)
from trackers.dashboards.homes import home_address
from trackers.dashboards.page_acts import confirmation_page
from trackers.dashboards.words import Moment, ago
from trackers.history import on_page
from trackers.ingest.sources.models import Source
from trackers.listing.search_slots import ClientGone, NoFreeSlot, search_slot
from trackers.saved_views.models import SavedView
from trackers.timelines.followers import Home, follower_of, homes_of
from trackers.timelines.models import Follower
from trackers.tokens import feed_addresses
from trackers.tokens.acts import make_address as make
from trackers.tokens.acts import revoke_addresses
from trackers.tokens.models import FeedAddress
from tweetwatch.time_limits import TookTooLong

_ASK_REPLACE = "The old address stops working at once. Create a new one?"
_BUSY = "This took too long, or too many searches are running. Try again in a minute."
# Whose addresses are shown with a new secret.
_MAX_VIEWS = 200
_ASK_REVOKE = "Readers with this address will be refused. Revoke it?"


@login_not_required
@require_safe
@sensitive_variables("secret")
@conditional_page
def home_feed(request: HttpRequest, secret: str, form: str) -> HttpResponse:
    address = _find_address(secret, VIEW_TWEETS)
    follower = address.follower
    return _feed_response(
        request, address, home_contents(follower), home_address(follower.team_id), form
    )


@login_not_required
@require_safe
@sensitive_variables("secret")
@conditional_page
def source_feed(request: HttpRequest, secret: str, id: int, form: str) -> HttpResponse:
    address = _find_address(secret, VIEW_SOURCES)
    source = Source.objects.filter(pk=id).first()
    if source is None:
        raise Http404("There is no such source.")
    return _feed_response(
        request, address, source_contents(source), reverse("source", args=[source.pk]), form
    )


@login_not_required
@require_safe
@sensitive_variables("secret")
@conditional_page
def view_feed(request: HttpRequest, secret: str, id: int, form: str) -> HttpResponse:
    """One's own view, or a team's. It is a search, and takes its turn with those of pages."""
    address = _find_address(secret, VIEW_TWEETS)
    view = SavedView.objects.seen_by(address.user).filter(pk=id).first()
    if view is None:
        raise Http404("There is no such saved view.")
    try:
        with search_slot(request):
            contents = view_contents(view, now=timezone.now())
    except (TookTooLong, NoFreeSlot, ClientGone):
        busy = HttpResponse(_BUSY, status=503, content_type="text/plain")
        busy["Retry-After"] = "60"
        return busy
    return _feed_response(request, address, contents, f"{reverse('tweets')}?{view.query}", form)


@sensitive_variables("secret")
def _find_address(secret: str, permission: str) -> FeedAddress:
    """`permission`: of the page that shows the same."""
    address = feed_addresses.find_address(secret, permission)
    if address is None:
        raise Http404("There is no such feed, or its address was revoked.")
    return address


def _feed_response(
    request: HttpRequest, address: FeedAddress, contents: FeedContents, page: str, form: str
) -> HttpResponse:
    now = timezone.now()
    changed_at = feed_addresses.changed_at(address, contents.of, contents.digest, now=now)
    kind, write = WRITERS[form]
    link = request.build_absolute_uri(page)
    id = address.feed_id(contents.of)
    feed = write(contents, id=id, changed_at=changed_at, link=link)
    response = HttpResponse(feed, content_type=kind)
    # After two changes within a second, changed_at may be in the future: do not send it yet.
    if changed_at <= now:
        response["Last-Modified"] = http_date(changed_at.timestamp())
    response["Cache-Control"] = "private, no-cache"
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "no-referrer"
    return response


@dataclass(frozen=True, slots=True)
class HomeRow:
    """A home, and since when the person has an address of it."""

    id: int
    name: str
    made: Moment | None


@require_safe
@needs(VIEW_SOURCES)
def feeds(request: HttpRequest) -> HttpResponse:
    return _addresses_page(request)


@require_http_methods(["GET", "POST"])
@needs(VIEW_SOURCES)
@never_cache
@sensitive_variables("secret")
def make_address(request: HttpRequest, follower: int) -> HttpResponse:
    """The response itself shows the addresses, as a redirect would have to carry them. The browser
    then stays at this URL, so a GET of it redirects."""
    if request.method == "GET":
        return redirect("feeds")
    mine = _own_home(request, follower)
    if _own_addresses(request).filter(follower=follower).exists() and (
        asks := confirmation_page(
            request, _ASK_REPLACE, button="New address", back=reverse("feeds")
        )
    ):
        return asks
    secret = make(Follower.objects.get(pk=follower), on_page(request.user))
    paths = {
        "atom": reverse("feed-home-atom", args=[secret]),
        "json": reverse("feed-home-json", args=[secret]),
        "source": reverse("feed-source-atom", args=[secret, 0]).replace("/0.atom", "/NUMBER.atom"),
    }
    urls = {name: request.build_absolute_uri(path) for name, path in paths.items()}
    views = [
        (view.title, request.build_absolute_uri(reverse("feed-view-atom", args=[secret, view.pk])))
        for view in SavedView.objects.seen_by(request.user)[:_MAX_VIEWS]
    ]
    return _addresses_page(request, new_addresses={"name": mine.name, **urls, "views": views})


@require_POST
@needs(VIEW_SOURCES)
def revoke_address(request: HttpRequest, follower: int) -> HttpResponse:
    _own_home(request, follower)
    if asks := confirmation_page(request, _ASK_REVOKE, button="Revoke", back=reverse("feeds")):
        return asks
    addresses = _own_addresses(request).filter(follower=follower).select_related("follower")
    revoke_addresses(list(addresses), on_page(request.user))
    return redirect("feeds")


def _own_home(request: HttpRequest, follower: int) -> Home:
    for home in homes_of(request.user):
        if home.follower_id == follower:
            return home
    raise Http404("You have no such home.")


def _own_addresses(request: HttpRequest) -> QuerySet[FeedAddress]:
    return FeedAddress.objects.filter(user=request.user.pk)


def _addresses_page(
    request: HttpRequest, *, new_addresses: dict[str, Any] | None = None
) -> HttpResponse:
    now = timezone.now()
    homes = [(follower_of(home, request.user), home.name) for home in homes_of(request.user)]
    made = dict(_own_addresses(request).values_list("follower_id", "made_at"))
    lines = [
        HomeRow(id, name, ago(made[id], now=now) if id in made else None) for id, name in homes
    ]
    context = {"lines": lines, "told": new_addresses}
    return render(request, "dashboards/feeds/page.html", context)
