"""How the bus answers: empty, JSON, or a refusal with a status and a sentence in plain text."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import orjson
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from tweetwatch.database import LOST
from tweetwatch.proxy import is_loopback

logger = logging.getLogger(__name__)

View = Callable[..., HttpResponse]

TEXT, JSON = "text/plain; charset=utf-8", "application/json"
SILENCE_SECONDS = 10.0
AWAY = "The database cannot be reached. Try again in a moment."


class Refused(Exception):
    """The request is not carried out; `sentence` says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


def malformed(sentence: str) -> Refused:
    return Refused(400, sentence)


def empty(status: int) -> HttpResponse:
    return with_length(HttpResponse(status=status, content_type=TEXT))


def text(status: int, sentence: str) -> HttpResponse:
    return with_length(HttpResponse(f"{sentence}\n", status=status, content_type=TEXT))


def as_json(told: Any, status: int = 200) -> HttpResponse:
    return with_length(HttpResponse(orjson.dumps(told), status=status, content_type=JSON))


def with_length(answer: HttpResponse) -> HttpResponse:
    # Without a Content-Length the server would send the body in chunks.
    if answer.status_code == 204:
        del answer["Content-Type"]
    else:
        answer["Content-Length"] = str(len(answer.content))
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def by_method(*, when_away: int = 503, https: bool = True, **views: View) -> View:
    """The view of the request's method; any other method gets a 404.

    `when_away`: the status when the database cannot be reached.
    """

    def answer(request: HttpRequest, **parts: str) -> HttpResponse:
        if connection := request.META.get("gunicorn.socket"):
            # A client that goes silent in mid-body would hold this thread forever, even if no view
            # reads the body: the server then looks for its end.
            connection.settimeout(SILENCE_SECONDS)
        # The server drops the body of an answer to HEAD.
        method = "GET" if request.method == "HEAD" else request.method or ""
        view = views.get(method)
        if view is None:
            return empty(404)
        try:
            if https and is_in_clear(request):
                return to_https(request)
            return view(request, **parts)
        except Refused as refused:
            return refusal(refused)
        except LOST as error:
            logger.warning("answered %s, because the database failed: %s", when_away, error)
            return text(when_away, AWAY)

    return answer


def refusal(refused: Refused) -> HttpResponse:
    answer = text(refused.status, refused.sentence)
    if refused.status == 401:
        answer["WWW-Authenticate"] = "Basic"
    return answer


def is_in_clear(request: HttpRequest) -> bool:
    """Whether others could read the request on its way, when HTTPS is required.

    Nobody else can read a request straight from this machine, and it cannot be https, which this
    server does not speak. Behind a proxy every request comes from there, which proves nothing.
    """
    if not settings.SECURE_SSL_REDIRECT or request.is_secure():
        return False
    behind_proxy = settings.SECURE_PROXY_SSL_HEADER is not None
    return behind_proxy or not is_loopback(request.META.get("REMOTE_ADDR", ""))


def to_https(request: HttpRequest) -> HttpResponse:
    """308: the method and the body stay the same."""
    try:
        address = f"https://{request.get_host()}{request.get_full_path()}"
    except DisallowedHost:
        raise malformed("The host of this request is not one of ALLOWED_HOSTS.") from None
    answer = empty(308)
    answer["Location"] = address
    return answer


def nowhere(_request: HttpRequest) -> HttpResponse:
    return empty(404)
