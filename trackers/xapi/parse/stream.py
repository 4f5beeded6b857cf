"""Lines of the filtered stream, and replies about its rules ─> plain values.

A line may be anything: a post with the rules that matched it, X's words as it hangs up, or half a
line. None of them raises: what is neither a post nor a farewell is Garbled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trackers.xapi.errors import Garbage
from trackers.xapi.parse.fields import Broken, id_of, id_or_none, json_type_name, read_object
from trackers.xapi.parse.problems import entries, kind_of, shorten
from trackers.xapi.parse.v2 import read_post
from trackers.xapi.results import Post, WindowSeen

_LONGEST_VALUE = 4096
# Besides a list of errors and a problem's type: X's problems, and its plain `Error`.
_FAREWELLS = frozenset({"title", "code"})

# By the `disconnect_type`, of which OpenAPI 2.166 names eight. The others pass by themselves: the
# stream is connected to again.
_NEXT_STEPS: Mapping[str, str] = {
    "SlowReader": "Posts come faster than this machine reads and stores them. Look at its load, or "
    "choose narrower rules.",
    "ClientApplicationStateDegraded": "Look at the app in X's developer console.",
    "InvalidRules": "Look at the app's rules in X's developer console.",
}


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule that matched."""

    id: int
    tag: str  # empty for one that has none


@dataclass(frozen=True, slots=True)
class Event:
    """A post as it appeared."""

    id: int
    post: Post | None  # None when X's JSON of it is broken: it can be looked up
    rules: tuple[Matched, ...]


@dataclass(frozen=True, slots=True)
class Farewell:
    """X ends the connection: its own words, and what a person can do about it."""

    reason: str
    is_one_too_many: bool = False  # X counts other connections of the app


@dataclass(frozen=True, slots=True)
class Garbled:
    """A line that may have held a post."""

    why: str  # a phrase that quotes nothing of it


@dataclass(frozen=True, slots=True)
class Rule:
    id: int
    value: str
    tag: str


@dataclass(frozen=True, slots=True)
class RulesReply:
    """All rules of an app."""

    rules: tuple[Rule, ...]
    window: WindowSeen | None


@dataclass(frozen=True, slots=True)
class Added:
    """What became of new rules, by value: added, already there, or refused with X's words."""

    added: dict[str, int]
    known: dict[str, int]
    refused: dict[str, str]
    window: WindowSeen | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """The rules are gone, or already were."""

    window: WindowSeen | None


def read_line(line: bytes) -> Event | Farewell | Garbled:
    """What a line that is not empty says; never raises."""
    try:
        message = read_object(line)
    except Garbage as error:
        return Garbled(error.reason)
    data = message.get("data")
    if type(data) is dict:
        return _read_event(message, data)
    if entries(message) or not _FAREWELLS.isdisjoint(message) or kind_of(message):
        return _read_farewell(message)
    return Garbled("neither a post nor a farewell")


def _read_event(message: Mapping[str, Any], data: Mapping[str, Any]) -> Event | Garbled:
    try:
        id = id_of(data.get("id"), "id")
        rules = tuple(_matched(message.get("matching_rules")))
    except Broken as error:
        return Garbled(str(error))
    try:
        return Event(id, read_post(data, id), rules)
    except Broken:
        return Event(id, None, rules)


def _matched(rules: Any) -> Iterator[Matched]:
    """Without a readable rule nobody knows which source the post belongs to."""
    if type(rules) is not list or not rules:
        raise Broken(f"matching_rules is {json_type_name(rules)} instead of a list of rules")
    for rule in rules:
        if type(rule) is not dict:
            raise Broken(f"a rule is {json_type_name(rule)} instead of an object")
        yield Matched(id_of(_as_text(rule.get("id")), "a rule's id"), _tag_of(rule))


def _as_text(id: Any) -> Any:
    """X has written the ids of rules as numbers."""
    return str(id) if type(id) is int else id


def _tag_of(rule: Mapping[str, Any]) -> str:
    tag = rule.get("tag")
    return tag if type(tag) is str else ""


def _read_farewell(message: Mapping[str, Any]) -> Farewell:
    """One line: the kind of farewell, what X says about it, and the next step if there is one."""
    first = (entries(message) or [message])[0]
    found = (first.get(name) for name in ("disconnect_type", "title", "detail", "message"))
    texts = dict.fromkeys(text for text in found if type(text) is str and text)
    words = shorten(": ".join(texts)) or "X named no reason."
    step = _NEXT_STEPS.get(str(first.get("disconnect_type")), "")
    is_one_too_many = first.get("connection_issue") == "TooManyConnections"
    return Farewell(f"{words} {step}".strip(), is_one_too_many)


def read_rules(body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None) -> RulesReply:
    """The answer of GET rules; Garbage when it is not one. X leaves out `data` for no rules."""
    answer = read_object(body)
    data = answer.get("data")
    if data is None and type(answer.get("meta")) is dict:
        return RulesReply((), window)
    if type(data) is not list:
        raise Garbage(f"X's rules are {json_type_name(data)} instead of a list.")
    return RulesReply(tuple(_readable(data)), window)


def read_added(body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None) -> Added:
    """The answer to new rules; each is in at most one of the three."""
    answer = read_object(body)
    data = answer.get("data")
    added = {rule.value: rule.id for rule in _readable(data if type(data) is list else [])}
    known: dict[str, int] = {}
    refused: dict[str, str] = {}
    for problem in entries(answer):
        value = problem.get("value")
        if type(value) is not str or value in added:
            continue
        existing = id_or_none(_as_text(problem.get("id")))
        if existing is not None and _is_duplicate(problem):
            known[value] = existing
        else:
            refused[value] = _complaint(problem)
    return Added(added, known, refused, window)


def read_deleted(body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None) -> Deleted:
    """The answer to a deletion; a rule that was already gone counts as deleted."""
    read_object(body)
    return Deleted(window)


def _readable(data: Sequence[Any]) -> Iterator[Rule]:
    for item in data:
        if type(item) is not dict:
            continue
        id, value = id_or_none(_as_text(item.get("id"))), item.get("value")
        if id is not None and type(value) is str and len(value) <= _LONGEST_VALUE:
            yield Rule(id, value, _tag_of(item))


def _is_duplicate(problem: Mapping[str, Any]) -> bool:
    return kind_of(problem) == "duplicate-rules" or problem.get("title") == "DuplicateRule"


def _complaint(problem: Mapping[str, Any]) -> str:
    details = problem.get("details")
    listed = [text for text in details if type(text) is str] if type(details) is list else []
    detail = problem.get("detail")
    words = [*listed, *([detail] if type(detail) is str else [])]
    title = problem.get("title")
    return shorten(" ".join(words)) or shorten(title if type(title) is str else "no reason named")
