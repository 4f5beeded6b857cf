"""Follow and unfollow: a POST, and back to the page it came from."""

from __future__ import annotations

import re

from django.contrib import messages
from django.db.models.functions import Collate, Lower
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs, require_permission
from trackers.dashboards.homes import home_of
from trackers.dashboards.page_acts import show_message
from trackers.history import on_page
from trackers.ingest.sources.models import Source
from trackers.timelines import acts
from trackers.timelines.followers import follower_of
from trackers.timelines.models import Follower
from trackers.tweets.models import Author
from trackers.tweets.snowflake import LARGEST_ID

_UNKNOWN_ACCOUNT = (
    "No account of that name is known here yet. Follow it from one of its tweets, or add "
    "a source that reads its posts and follow that."
)


@require_POST
@needs(VIEW_TWEETS)
def follow_act(request: HttpRequest, act: str) -> HttpResponseRedirect:
    if act not in ("follow", "unfollow"):
        raise Http404(f"There is no action {act}.")
    home = home_of(request.user, _parse_origin(request.POST.get("team", "")))
    if (origin := _find_origin(request)) is None:
        messages.error(request, _UNKNOWN_ACCOUNT)
    elif act == "follow":
        follower = Follower.objects.get(pk=follower_of(home, request.user))
        show_message(request, acts.follow(follower, origin, on_page(request.user)))
    elif home.follower_id is not None:
        follower = Follower.objects.get(pk=home.follower_id)
        show_message(request, acts.unfollow(follower, origin, on_page(request.user)))
    return redirect(_return_address(request))


def _find_origin(request: HttpRequest) -> Source | Author | None:
    """The account of the typed name, in any case, if we have ever seen it; or what was chosen, 404
    if there is no such thing."""
    form = request.POST
    if "account" in form:
        name = form["account"].strip().removeprefix("@").replace("\0", "")[:50]
        authors = Author.objects.annotate(lower=Collate(Lower("username"), "C"))
        named = authors.filter(lower=name.lower()).order_by("-pk")
        return named.first() if name else None
    source, author = (_parse_origin(form.get(name, "")) for name in ("source", "author"))
    if (source is None) == (author is None):
        raise Http404("Name either a source or an account.")
    origin: Source | Author | None
    if source is not None:
        require_permission(request, VIEW_SOURCES)
        origin = Source.objects.filter(pk=source).first()
    else:
        origin = Author.objects.filter(pk=author or 0).first()
    if origin is None:
        raise Http404("There is no such source or account.")
    return origin


def _parse_origin(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,19}", text) or not 0 < int(text) <= LARGEST_ID:
        raise Http404(f"{text[:80]!r} is not an id.")
    return int(text)


def _return_address(request: HttpRequest) -> str:
    back = request.POST.get("back", "")
    if back.startswith("/") and url_has_allowed_host_and_scheme(back, request.get_host()):
        return back
    return "following" if request.user.has_perm(VIEW_SOURCES) else "home"
