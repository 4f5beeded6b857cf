"""Replies other than 2xx ─> errors, by the shapes X was seen to send."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from trackers.xapi.errors import (
    BadRequest,
    Depleted,
    Forbidden,
    NotShown,
    RateLimited,
    Refused,
    Unavailable,
    XError,
)
from trackers.xapi.parse.problems import entries, kind_of, read_problem, shorten
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.headers import reset_time, retry_after
from trackers.xapi.wire.session import Reply

# Inside a 400, v1.1 says that it was given no keys, or none that it could read; and at any endpoint
# that the account the keys belong to is suspended or locked.
_OF_THE_KEYS = {215, 64, 326}
# The names X gives to refusals of the client itself.
_OF_THE_CLIENT = {"client-forbidden", "unsupported-authentication"}
_HOST = re.compile(r"[a-z0-9.-]{1,253}")


def error_in(reply: Reply, window: WindowSeen | None, *, endpoint: str = "") -> XError:
    """The error for a reply of any status but 2xx. `endpoint` is what was asked."""
    problem, status = read_problem(reply.body), reply.status_code
    reason = _reason_for(problem, reply)
    if status == 402 or (status == 429 and _is_cap(problem)):
        return Depleted(reason, window=window)
    if status == 429:
        return RateLimited(
            reason,
            resets_at=_reset_of(reply, window),
            retry_after=retry_after(reply.headers),
            window=window,
        )
    if status == 401 or _OF_THE_KEYS.intersection(_codes_of(problem)):
        return Refused(reason, status=status, window=window)
    if 300 <= status < 400:
        return Unavailable(_redirection(reply), window=window)
    if status in (403, 404, 410) and _is_of_what_was_asked(problem, endpoint):
        return NotShown(reason, window=window)
    if status == 403:
        return Forbidden(reason, status=status, window=window)
    if status >= 500 or status < 300 or status in (404, 408, 410, 425):
        # 404: an endpoint without an id always exists; X once answered 404 for hours.
        return Unavailable(reason, retry_after=retry_after(reply.headers), window=window)
    return BadRequest(reason, window=window)


def _is_of_what_was_asked(problem: Mapping[str, Any], endpoint: str) -> bool:
    """Whether the problem is about the one account or list in the endpoint's path, not the client.

    A 403 that says no more counts as such: then only that source waits, and no other is harmed.
    """
    return ":id" in endpoint and kind_of(problem) not in _OF_THE_CLIENT


def _is_cap(problem: Mapping[str, Any]) -> bool:
    return kind_of(problem) == "usage-capped" or problem.get("title") == "UsageCapExceeded"


def _reset_of(reply: Reply, window: WindowSeen | None) -> Any:
    """When to ask again; None when the reset given is that of a window that still has room."""
    if window is None or window.remaining == 0:
        return reset_time(reply.headers)
    return None


def _codes_of(problem: Mapping[str, Any]) -> set[int]:
    codes = (entry.get("code") for entry in entries(problem))
    return {code for code in codes if type(code) is int}


def _redirection(reply: Reply) -> str:
    """Where a redirect leads, and what a person can do about it."""
    to = _origin_of(reply.headers.get("location", ""))
    begin = f"{reply.status_code}, redirected {f'to {to}' if to else 'elsewhere'}, which is not "
    if to.startswith("https:"):
        return (
            f"{begin}followed, so that no key reaches another host; if this is X, "
            "set X_API_BASE_URL to it."
        )
    return f"{begin}followed: something on the way to X answered instead of X."


def _origin_of(address: str) -> str:
    """Scheme, host and port of an address; empty if it is invalid or has none."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    is_good = parts.scheme in ("http", "https") and _HOST.fullmatch(host) is not None
    return f"{parts.scheme}://{host}{port}" if is_good else ""


def _reason_for(problem: Mapping[str, Any], reply: Reply) -> str:
    """One line: the status and X's explanation."""
    first = (entries(problem) or [{}])[0]
    said = [problem.get("title"), first.get("message") or problem.get("detail")]
    texts = dict.fromkeys(text for text in said if isinstance(text, str) and text)
    line = ": ".join(texts) or str(reply.reason)
    return f"{reply.status_code} {shorten(line)}".strip()
