"""X's problem objects, inside a 200 and as whole replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from trackers.xapi.results import Missing

_LONGEST_REASON = 200
# A 400 echoes every id that it was sent.
_LISTS = re.compile(r"\[[^\]]{40,}\]?")

_ID = re.compile(r"\[([0-9]{1,19})\]")

_SUBJECTS = ("", "id", "ids")
_REASONS: Mapping[str, Missing] = {
    "resource-not-found": "not_found",
    "not-authorized-for-resource": "unauthorized",
    "resource-unavailable": "unavailable",
    "disallowed-resource": "unavailable",
}


def kind_of(problem: Mapping[str, Any]) -> str:
    """The last segment of the problem's URL, which X writes with two different hosts."""
    url = problem.get("type")
    return url.rstrip("/").rpartition("/")[2] if type(url) is str else ""


def hidden(
    answer: Mapping[str, Any], asked: Mapping[str, int], *, kinds: frozenset[str]
) -> Iterator[tuple[int, Missing]]:
    """Ids that X does not show, and why, from the partial errors of a 200.

    Entries of other parameters are about a quoted tweet, an author or a field. X has left the
    parameter out (OpenAPI 2.167): then the resource's type must fit. `kinds` are those that do.
    """
    problems = answer.get("errors")
    if type(problems) is not list:
        return
    for problem in problems:
        if type(problem) is not dict or problem.get("parameter", "") not in _SUBJECTS:
            continue
        fitting = (*kinds, "") if "parameter" in problem else tuple(kinds)
        if problem.get("resource_type", "") not in fitting:
            continue
        id = _asked_id(problem, asked)
        reason = reason_of(problem)
        if id is not None and reason is not None:
            yield id, reason


def _asked_id(problem: Mapping[str, Any], asked: Mapping[str, int]) -> int | None:
    # Older problems lack `resource_id`. X has written ids as numbers elsewhere.
    named = [problem[name] for name in ("value", "resource_id") if name in problem]
    for text in named:
        if type(text) in (str, int) and str(text) in asked:
            return asked[str(text)]
    # OpenAPI 2.167 requires neither: then X's words name it.
    detail = problem.get("detail")
    in_words = _ID.search(detail) if type(detail) is str and not named else None
    return asked.get(in_words[1]) if in_words else None


def reason_of(problem: Mapping[str, Any]) -> Missing | None:
    """None for kinds that say nothing about the resource itself, such as an internal error."""
    detail = problem.get("detail")
    # X reports suspended accounts with the type of accounts that never existed.
    if type(detail) is str and "suspended" in detail.partition("[")[0]:
        return "suspended"
    return _REASONS.get(kind_of(problem))


def read_problem(body: bytes) -> Mapping[str, Any]:
    try:
        problem = orjson.loads(body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def entries(problem: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    errors = problem.get("errors")
    return (
        [entry for entry in errors if isinstance(entry, dict)] if isinstance(errors, list) else []
    )


def shorten(text: str) -> str:
    line = " ".join(_LISTS.sub("[…]", text).split())
    printable = "".join(letter for letter in line if letter.isprintable())
    return (
        printable if len(printable) <= _LONGEST_REASON else printable[: _LONGEST_REASON - 1] + "…"
    )
