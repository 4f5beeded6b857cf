"""Shares as strangers read them: a page, its pictures, and one chart to embed. Without an account,
a cookie or a script; everything about the installation stays out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import sha256

from csp.decorators import csp_update
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from trackers.dashboards.charts.pictures import PICTURES, as_picture
from trackers.dashboards.shares.drawn import SharedView, shared_view
from trackers.shares.models import Share
from trackers.shares.terms import find_share
from trackers.standbys.reading import read
from tweetwatch.http.client_addresses import client_address

# Requests of one address in a minute, for all shares together.
_MOST_A_MINUTE = 120
_WINDOW = 60  # seconds
# X's terms: what is displayed is what X shows now.
_PICTURE_SECONDS = 300
_CACHED = f"public, max-age={_WINDOW}"
_NOT_THERE = "There is nothing under this link: it has ended, or was never made."
_View = Callable[..., HttpResponseBase]


def _public(view: _View) -> _View:
    """Finds the share of the key, for anybody; 404 once it has ended, 429 for too many requests."""

    @login_not_required
    @require_safe
    @wraps(view)
    def open_share(request: HttpRequest, key: str, **more: str) -> HttpResponseBase:
        if _is_too_often(request):
            answer = HttpResponse("Too many requests. Wait a minute.\n", "text/plain", 429)
            answer["Retry-After"] = str(_WINDOW)
            return answer
        share = find_share(key, now=timezone.now())
        response = view(request, share, **more) if share else _not_there()
        response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
        response["Referrer-Policy"] = "no-referrer"
        return response

    return open_share


def _not_there() -> HttpResponse:
    """The same for one that has ended, one that is hidden, and a key that nobody made."""
    answer = _page("ended", {"sentence": _NOT_THERE}, cached="no-store")
    answer.status_code = 404
    return answer


def _page(name: str, context: dict[str, object], *, cached: str) -> HttpResponse:
    """Without the request: that would read the session, and nobody has one here."""
    page = render_to_string(f"dashboards/shares/{name}.html", context)
    return HttpResponse(page, headers={"Cache-Control": cached})


@_public
def share_page(request: HttpRequest, share: Share) -> HttpResponse:
    share.count_reader(now=timezone.now())
    return _page("public", {"share": share, "view": _view_of(share)}, cached=_CACHED)


@csp_update({"frame-ancestors": settings.SHARE_FRAME_ANCESTORS})
@xframe_options_exempt
@_public
def share_embed(request: HttpRequest, share: Share) -> HttpResponse:
    """One chart, for the frame of another site."""
    view = _view_of(share)
    name = next(iter(view.charts), "")
    context = {"share": share, "view": view, "name": name, "alt": view.alts.get(name, "")}
    return _page("embed", context, cached=_CACHED)


@_public
def share_picture(request: HttpRequest, share: Share, name: str, form: str) -> HttpResponseBase:
    view = _view_of(share)
    if name not in view.charts or form not in PICTURES:
        raise Http404("There is no such picture.")
    answer = as_picture(request, view.charts[name], form, name=f"tweetwatch-{name}")
    answer["Cache-Control"] = f"public, max-age={_PICTURE_SECONDS}"
    return answer


def _view_of(share: Share) -> SharedView:
    view, _place = read(lambda: shared_view(share))
    return view


def _is_too_often(request: HttpRequest) -> bool:
    now = int(timezone.now().timestamp()) // _WINDOW
    whose = sha256(client_address(request).encode()).hexdigest()[:24]
    key = f"shares-{now}-{whose}"
    cache.add(key, 0, 2 * _WINDOW)
    try:
        return cache.incr(key) > _MOST_A_MINUTE
    except ValueError:
        # It was dropped in between.
        return False
