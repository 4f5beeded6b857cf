"""Replies other than 2xx ─> the error that each of them is, by the shapes X was seen to send."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from trackers.xapi.answers import WindowSeen
from trackers.xapi.errors import (
    BadRequest,
    Depleted,
    RateLimited,
    Refused,
    Unavailable,
    XError,
)
from trackers.xapi.headers import reset_time, retry_after
from trackers.xapi.problems import kind_of
from trackers.xapi.transport import Reply

LONGEST_REASON = 200
# A 400 echoes every id that it was sent.
LISTS = re.compile(r"\[[^\]]{40,}\]?")
# v1.1 says with a 400 that it was given no keys, or none that it could read.
BAD_AUTHENTICATION = {215}


def error_in(reply: Reply, window: WindowSeen | None) -> XError:
    """The error that a reply of any status but 2xx is."""
    problem, status = read_problem(reply.body), reply.status_code
    reason = reason_for(problem, reply)
    if status == 402 or (status == 429 and is_cap(problem)):
        return Depleted(reason, window=window)
    if status == 429:
        return RateLimited(reason, resets_at=reset_of(reply, window), window=window)
    if status in (401, 403) or BAD_AUTHENTICATION.intersection(codes_of(problem)):
        return Refused(reason, status=status, window=window)
    if status >= 500 or status < 400 or status in (404, 408, 410, 425):
        # 404: the endpoint is always there; X once answered so for hours.
        return Unavailable(reason, retry_after=retry_after(reply.headers), window=window)
    return BadRequest(reason, window=window)


def read_problem(body: bytes) -> Mapping[str, Any]:
    try:
        problem = orjson.loads(body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def is_cap(problem: Mapping[str, Any]) -> bool:
    return kind_of(problem) == "usage-capped" or problem.get("title") == "UsageCapExceeded"


def reset_of(reply: Reply, window: WindowSeen | None) -> Any:
    """When to ask again; None when the reset told is of a window that still has room."""
    if window is None or window.remaining == 0:
        return reset_time(reply.headers)
    return None


def entries(problem: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    errors = problem.get("errors")
    return (
        [entry for entry in errors if isinstance(entry, dict)] if isinstance(errors, list) else []
    )


def codes_of(problem: Mapping[str, Any]) -> set[int]:
    codes = (entry.get("code") for entry in entries(problem))
    return {code for code in codes if type(code) is int}


def reason_for(problem: Mapping[str, Any], reply: Reply) -> str:
    """One line: the status and what X says of it."""
    first = (entries(problem) or [{}])[0]
    said = [problem.get("title"), first.get("message") or problem.get("detail")]
    texts = dict.fromkeys(text for text in said if isinstance(text, str) and text)
    line = ": ".join(texts) or str(reply.reason)
    return f"{reply.status_code} {shorten(line)}".strip()


def shorten(text: str) -> str:
    line = " ".join(LISTS.sub("[…]", text).split())
    printable = "".join(letter for letter in line if letter.isprintable())
    return printable if len(printable) <= LONGEST_REASON else printable[: LONGEST_REASON - 1] + "…"
