"""Requests that Django refuses for the host they ask for, or the page they come from.

Mostly a setting here, or one of the proxy, does not fit the address under which people see the
pages: so the answer names Django's reason, the setting, and the value; the log has one line.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.request import validate_host
from django.middleware.csrf import REASON_BAD_ORIGIN, REASON_BAD_REFERER
from django.template.loader import render_to_string
from django.views import defaults

from tweetwatch.http.problems import is_of_api, problem

logger = logging.getLogger(__name__)

_MAX_SHOWN = 200
_NO_ORIGIN = (
    "The browser did not name the page that this form came from. Go back, reload it and try again. "
    "If that does not help, something on the way removes the name: an extension of the browser, or "
    "a proxy that changes Origin, Referer or Referrer-Policy."
)
_OTHER_ORIGINS = tuple(
    reason.partition("%s")[0] for reason in (REASON_BAD_ORIGIN, REASON_BAD_REFERER)
)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without its token, or from elsewhere."""
    advice = _advice_for_form(request) if reason.startswith(_OTHER_ORIGINS) else ""
    reason = _shortened(reason)
    context = {"reason": reason, "advice": advice}
    answer = HttpResponse(render_to_string("403_csrf.html", context), status=403)
    if advice:
        logger.warning("refused a form: %s %s", reason, advice)
        answer.__dict__["_has_been_logged"] = True
    return answer


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not isinstance(exception, DisallowedHost):
        return defaults.bad_request(request, exception)
    host = _shortened(request.META.get("HTTP_HOST", ""))
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    fault = (
        f"This server is not known as {host!r}. If that is its address, whoever runs it should add "
        f"it: ALLOWED_HOSTS=…,{name}"
    )
    logger.warning("refused a request: %s", fault)
    answer = (
        problem(400, fault)
        if is_of_api(request)
        else HttpResponse(render_to_string("400.html", {"fault": fault}), status=400)
    )
    answer.__dict__["_has_been_logged"] = True
    return answer


def _advice_for_form(request: HttpRequest) -> str:
    named = _origin_in(request.META.get("HTTP_ORIGIN") or request.META.get("HTTP_REFERER", ""))
    if named is None:
        return _NO_ORIGIN
    scheme, place, host = named
    origin = _shortened(f"{scheme}://{place}")
    ours = f"{request.scheme}://{request.get_host()}"
    sentence = f"The page came from {origin}, and this server takes itself for {ours}. "
    if place == request.get_host():
        return sentence + (
            "Whoever runs it should set BEHIND_PROXY=true, and have the proxy send "
            f"X-Forwarded-Proto: {scheme}."
        )
    if validate_host(host, [request.get_host().partition(":")[0]]):
        sentence += (
            "Whoever runs it should have the proxy pass on the Host with its port (nginx: "
            "proxy_set_header Host $http_host), or set "
        )
    else:
        sentence += f"If {origin} is an address of this installation, whoever runs it should set "
    return f"{sentence}CSRF_TRUSTED_ORIGINS={origin}"


def _origin_in(text: str) -> tuple[str, str, str] | None:
    """Scheme, host with port, and host of a page; None if the text names none."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return parts.scheme, parts.netloc, host


def _shortened(text: str) -> str:
    return text[:_MAX_SHOWN]
