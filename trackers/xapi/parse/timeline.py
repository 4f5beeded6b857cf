"""Bodies of v2 pages of posts ─> Page: timelines, mentions, search and lists alike.

No post was asked for by id, so every readable id on a page counts: a broken post still gives its
id, and can be looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trackers.xapi.errors import Garbage
from trackers.xapi.page import Page
from trackers.xapi.parse.fields import Broken, id_of, id_or_none, json_type_name, read_object
from trackers.xapi.parse.problems import entries, kind_of, read_problem, reason_of
from trackers.xapi.parse.v2 import read_account, read_post, references
from trackers.xapi.results import Account, Missing, Post

_LONGEST_TOKEN = 1000
# Entries about what was asked for; others are about quoted posts, authors and fields.
_SUBJECTS = ("id", "list_id")
_LARGER_THAN = re.compile(r"larger than \[?([0-9]{1,19})")


def page_of(body: bytes, of: int | str | None = None) -> Page:
    """What the body alone tells; Garbage when it is not a page of posts.

    `of`: the account or list that was asked for, or the query.
    """
    answer = read_object(body)
    posts: dict[int, Post] = {}
    broken: dict[int, str] = {}
    kinds: dict[str, set[int]] = {"replied_to": set(), "retweeted": set(), "reposted": set()}
    ids: dict[int, None] = {}
    unreadable = 0
    for item in _items(answer, of):
        id = id_or_none(item.get("id")) if type(item) is dict else None
        if id is None:
            unreadable += 1
            continue
        if id in ids:
            continue
        ids[id] = None
        try:
            posts[id] = read_post(item, id)
        except Broken as error:
            broken[id] = str(error)
        for kind, _ in references(item):
            if kind in kinds:
                kinds[kind].add(id)
    return Page(
        posts,
        broken,
        tuple(ids),
        unreadable,
        frozenset(kinds["replied_to"]),
        frozenset(kinds["retweeted"] | kinds["reposted"]),
        _why_nothing(answer, of) if not ids else None,
        _next_token(answer),
    )


def _items(answer: Mapping[str, Any], of: int | str | None) -> list[Any]:
    """The entries of `data`, which X leaves out when there are none."""
    data = answer.get("data")
    if data is not None:
        if type(data) is not list:
            raise Garbage(f"X's data is {json_type_name(data)} instead of a list.")
        return data
    # An empty page has its meta or, as X's document allows, nothing at all (OpenAPI 2.167); what
    # has something else instead proves nothing about the posts.
    if answer and "meta" not in answer and _why_nothing(answer, of) is None:
        what = kind_of(answer)[:60] or "neither data nor meta"
        raise Garbage(f"X answered 200 with no page of posts ({what}).")
    return []


def _why_nothing(answer: Mapping[str, Any], of: int | str | None) -> Missing | None:
    for problem in entries(answer):
        reason = reason_of(problem)
        if reason is not None and _is_about(problem, of):
            return reason
    return None


def _is_about(problem: Mapping[str, Any], of: int | str | None) -> bool:
    if "parameter" in problem:
        return problem["parameter"] in _SUBJECTS
    fits = problem.get("resource_type") in ("user", "list") and type(of) is int
    return fits and str(of) in (problem.get("resource_id"), problem.get("value"))


def _next_token(answer: Mapping[str, Any]) -> str | None:
    """Where the next page begins. Garbage for an unusable token: ignoring it would lose pages."""
    meta = answer.get("meta")
    if meta is None:
        return None
    if type(meta) is not dict:
        raise Garbage(f"X's meta is {json_type_name(meta)} instead of an object.")
    token = meta.get("next_token")
    if token is None:
        return None
    if type(token) is not str or not 0 < len(token) <= _LONGEST_TOKEN or not token.isascii():
        raise Garbage("X's next_token is none.")
    return token


def read_named(body: bytes, username: str) -> tuple[Account | None, Missing | None]:
    """The account of a username, or why there is none; neither when X gave no verdict."""
    answer = read_object(body)
    data = answer.get("data")
    for item in data if type(data) is list else []:
        if type(item) is dict and _same_name(item.get("username"), username):
            try:
                return read_account(item, id_of(item.get("id"), "id")), None
            except Broken as error:
                raise Garbage(f"X's account is broken: {error}.") from None
    for problem in entries(answer):
        if problem.get("parameter", "usernames") == "usernames" and _same_name(
            problem.get("value"), username
        ):
            return None, reason_of(problem)
    return None, None


def _same_name(value: Any, username: str) -> bool:
    return type(value) is str and value.lower() == username.lower()


def stale_since_id(body: bytes) -> tuple[bool, int | None]:
    """Whether a 400 is about a `since_id` that is too old, and the id that X names instead."""
    for entry in entries(read_problem(body)):
        message, parameters = entry.get("message"), entry.get("parameters")
        if type(message) is not str or "since_id" not in (
            parameters if isinstance(parameters, dict) else message
        ):
            continue
        named = _LARGER_THAN.search(message)
        if named or "created after" in message:
            return True, _suggested(named[1]) if named else None
    return False, None


def _suggested(text: str) -> int | None:
    try:
        return id_of(text, "since_id")
    except Broken:
        return None
