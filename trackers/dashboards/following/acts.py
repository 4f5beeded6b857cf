"""Follow and unfollow: a POST, and back to the page it came from."""

from __future__ import annotations

import re

from django.contrib import messages
from django.db.models.functions import Collate, Lower
from django.http import Http404, HttpRequest, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs, require_permission
from trackers.dashboards.homes import home_of
from trackers.history import on_page
from trackers.ingest.sources.models import Source
from trackers.timelines import homes
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
    if "account" in request.POST:
        author = _find_author(request.POST["account"])
        if author is None:
            messages.error(request, _UNKNOWN_ACCOUNT)
            return redirect(_return_address(request))
        what: dict[str, int | None] = {"source_id": None, "author_id": author}
    else:
        what = _requested_origin(request.POST)
        if what["source_id"] is not None:
            require_permission(request, VIEW_SOURCES)
    name = _origin_name(**what)
    who = f"{home.name} follows" if home.team_id else "You follow"
    if act == "follow":
        follower_id = follower_of(home, request.user)
        if homes.follow(follower_id, **what):
            _record_follow(request, follower_id, f"Followed {name}")
        messages.success(request, f"{who} {name} from now on.")
    elif home.follower_id is not None:
        if homes.unfollow(home.follower_id, **what):
            _record_follow(request, home.follower_id, f"Unfollowed {name}")
        messages.success(request, f"{who} {name} no longer.")
    return redirect(_return_address(request))


def _record_follow(request: HttpRequest, follower_id: int, what: str) -> None:
    history.record(on_page(request.user), [Follower.objects.get(pk=follower_id)], what)


def _find_author(text: str) -> int | None:
    """The account of this name, in any case, if we have ever seen it."""
    name = text.strip().removeprefix("@").replace("\0", "")[:50]
    authors = Author.objects.annotate(lower=Collate(Lower("username"), "C"))
    ids = authors.filter(lower=name.lower()).order_by("-pk").values_list("pk", flat=True)
    return ids.first() if name else None


def _requested_origin(form: QueryDict) -> dict[str, int | None]:
    source, author = (_parse_origin(form.get(name, "")) for name in ("source", "author"))
    if (source is None) == (author is None):
        raise Http404("Name either a source or an account.")
    return {"source_id": source, "author_id": author}


def _origin_name(*, source_id: int | None, author_id: int | None) -> str:
    """404 if it does not exist or is unknown."""
    origin: Source | Author | None
    if source_id is not None:
        origin = Source.objects.filter(pk=source_id).first()
    else:
        origin = Author.objects.filter(pk=author_id or 0).first()
    if origin is None:
        raise Http404("There is no such source or account.")
    return str(origin)


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
