"""Which requests a standby answers, and how far the log went in what their senders have seen.

A browser keeps that in a signed cookie, a token in the row of its use. Nothing keeps it for who has
neither: readers of shares, which may be as far behind as the standby.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

from trackers.standbys.beat import is_read_elsewhere
from trackers.standbys.places import LogPlace, note_place, place_of_token, primary_place
from trackers.standbys.reading import read

ViewFunction = Callable[..., HttpResponseBase]

_SAFE = ("GET", "HEAD")
_READ_TO, _TOKEN = "read_to", "api_token"
# Longer than a standby may be behind, so that what is older is on all of them.
_COOKIE_LASTS_S = 60
_ANY_PERMISSION = "trackers.view_tweet"


def on_standby(view: ViewFunction) -> ViewFunction:
    """Marks a page that only reads. Below `needs`, so that who may see it is asked of the
    primary."""

    @wraps(view)
    def reading(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not is_read_elsewhere() or request.method not in _SAFE:
            return view(request, *args, **kwargs)
        after = _place_in_cookie(request)
        response, place = read(lambda: view(request, *args, **kwargs), after=after)
        request.__dict__[_READ_TO] = place
        return response

    reading.__dict__["reads_standby"] = True
    return reading


def call_on_standby(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same for the calls of the API; what changes something is asked of the primary."""

    @wraps(call)
    def reading(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not is_read_elsewhere() or request.method not in _SAFE:
            return call(request, *args, **kwargs)
        user, token = getattr(request, "auth", None), request.__dict__.get(_TOKEN)
        if user is not None:
            # Which keeps all of them: what somebody may do is asked of the primary.
            user.has_perm(_ANY_PERMISSION)
        after = place_of_token(token.pk) if token else _place_in_cookie(request)
        result, place = read(lambda: call(request, *args, **kwargs), after=after)
        request.__dict__[_READ_TO] = place
        return result

    return reading


class PlaceMiddleware:
    """Keeps how far the log went in an answer: of the standby that gave it, or of the primary."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not is_read_elsewhere():
            return response
        if token := request.__dict__.get(_TOKEN):
            note_place(token.pk, request.__dict__.get(_READ_TO) or primary_place())
        elif _is_of_a_person(request):
            place = request.__dict__.get(_READ_TO) or primary_place()
            response.set_cookie(
                settings.PLACE_COOKIE_NAME,
                signing.TimestampSigner(salt=_READ_TO).sign(str(place)),
                max_age=_COOKIE_LASTS_S + int(settings.READ_LAG_MOST.total_seconds()),
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response


def _is_of_a_person(request: HttpRequest) -> bool:
    """Whether it was asked who it is, and that was somebody: no share and no static file."""
    session = getattr(request, "session", None)
    return session is not None and session.accessed and request.user.is_authenticated


def _place_in_cookie(request: HttpRequest) -> LogPlace | None:
    text = request.COOKIES.get(settings.PLACE_COOKIE_NAME, "")
    try:
        return LogPlace.parse(signing.TimestampSigner(salt=_READ_TO).unsign(text))
    except (signing.BadSignature, ValueError):
        return None
