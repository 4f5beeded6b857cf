"""Reading a v2 query string: ids, fields, vocabulary; or the 400 X would give.

The ids differ in every request and the rest hardly ever does, so it is parsed once and cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote_plus

from fakex.wire.fields import (
    EXPANDED_FIELDS,
    EXPANSIONS,
    MEDIA_FIELDS,
    NO_POST_FIELDS,
    OTHER_PARAMETERS,
    PLACE_FIELDS,
    POLL_FIELDS,
    POST_FIELDS,
    TWEET_FIELDS,
    TWEET_NAMES,
    USER_FIELDS,
)

Complaint = tuple[str, list[str], str]
ID = re.compile(r"[0-9]{1,19}\Z")
USERNAMES = re.compile(r"[A-Za-z0-9_]{1,15}\Z")
MOST_IDS = 100


class Invalid(Exception):
    """A request that X answers with 400; holds every complaint and the readable ids."""

    def __init__(self, complaints: Iterable[Complaint], ids: Iterable[str] = ()) -> None:
        super().__init__("invalid request")
        self.complaints, self.ids = list(complaints), list(ids)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a reply shows of each tweet or user, and in which vocabulary."""

    fields: frozenset[str] = frozenset()
    user_fields: frozenset[str] = frozenset()
    authors: bool = False
    posts: bool = False
    as_documented: bool = False  # where X itself differs from its document


@dataclass(frozen=True, slots=True)
class LookupAsk:
    ids: list[str]
    shape: Shape


class Shapes:
    """Parses what a query requests of each tweet; `known` are the endpoint's parameters."""

    def __init__(self, known: tuple[str, ...]) -> None:
        self._known = known
        self._shapes: dict[tuple[str, ...], Shape] = {}

    def read(self, parts: tuple[str, ...], complaints: list[Complaint]) -> Shape:
        """The shape that these parts of a query request; appends complaints."""
        shape = self._shapes.get(parts)
        if shape is not None:
            return shape
        fields: dict[str, set[str]] = {}
        for part in parts:
            name, _, value = part.partition("=")
            values = [value for value in unquote_plus(value).split(",") if value]
            fields.setdefault(unquote_plus(name), set()).update(values)
        wrong = [*self._unknown_parameters(fields), *_unknown_values(fields)]
        shape = _shape(fields)
        if wrong:
            complaints.extend(wrong)
        elif len(self._shapes) < 1000:
            self._shapes[parts] = shape
        return shape

    def _unknown_parameters(self, fields: dict[str, set[str]]) -> list[Complaint]:
        listing = ",".join(self._known)
        return [
            (name, sorted(values), f"The query parameter [{name}] is not one of [{listing}]")
            for name, values in fields.items()
            if name not in self._known
        ]


@dataclass(frozen=True, slots=True)
class NameAsk:
    """One user by name."""

    username: str
    shape: Shape
    ids: list[str] = field(default_factory=list)  # always empty: nothing is requested by id


@dataclass(frozen=True, slots=True)
class StreamAsk:
    """A stream of posts of one shape."""

    shape: Shape
    ids: list[str] = field(default_factory=list)  # always empty: nothing is requested by id


class StreamReader:
    """Reads requests to connect to the stream; pay-per-use has no backfill_minutes."""

    def __init__(self) -> None:
        self._shapes = Shapes(OTHER_PARAMETERS)

    def read(self, query: str) -> StreamAsk:
        complaints: list[Complaint] = []
        shape = self._shapes.read(tuple(part for part in query.split("&") if part), complaints)
        if complaints:
            raise Invalid(complaints)
        return StreamAsk(shape)


class SingleReader:
    """Reads requests whose path names one thing, by its id or its name; or names none, if `subject`
    is empty."""

    def __init__(self, subject: str = "", pattern: re.Pattern[str] = ID) -> None:
        self._subject, self._pattern = subject, pattern
        self._shapes = Shapes((*filter(None, (subject,)), *OTHER_PARAMETERS))

    def read(self, value: str, query: str) -> Shape:
        """What is asked for of it; raises Invalid."""
        complaints: list[Complaint] = []
        shape = self._shapes.read(tuple(part for part in query.split("&") if part), complaints)
        if self._subject and not self._pattern.match(value):
            complaints.append(
                (self._subject, [value], _mismatch(self._subject, self._pattern, value))
            )
        if complaints:
            raise Invalid(complaints)
        return shape


class Reader:
    """Reads the queries of one endpoint; the parameter `subject` holds its list of values."""

    def __init__(self, subject: str, pattern: re.Pattern[str] = ID) -> None:
        self._subject, self._pattern = subject, pattern
        self._prefix = subject + "="
        self._shapes = Shapes((subject, *OTHER_PARAMETERS))

    def read(self, query: str) -> LookupAsk:
        """The ids (each once, in order) and the shape; raises Invalid with all complaints."""
        listed: list[str] = []
        rest: list[str] = []
        for part in query.split("&"):
            if part.startswith(self._prefix):
                listed.append(part[len(self._prefix) :].replace("%2C", ",").replace("%2c", ","))
            elif part:
                rest.append(part)
        text = ",".join(listed)
        ids = text.split(",") if text else []
        complaints = self._complaints_of_ids(ids, text)
        shape = self._shapes.read(tuple(rest), complaints)
        if complaints:
            raise Invalid(complaints, ids)
        if len(set(ids)) != len(ids):
            ids = list(dict.fromkeys(ids))
        return LookupAsk(ids, shape)

    def _complaints_of_ids(self, ids: list[str], text: str) -> list[Complaint]:
        name = self._subject
        if not ids:
            return [(name, [], f"The `{name}` query parameter can not be empty")]
        if "%" in text or "+" in text:
            ids[:] = [unquote_plus(value) for value in ids]
        if self._pattern is ID and _are_ids(text, ids):
            return [(name, ids, _too_many(name, len(ids)))] if len(ids) > MOST_IDS else []
        matches = self._pattern.match
        bad = [value for value in ids if not matches(value)]
        if bad:
            return [
                (name, [value], _mismatch(self._subject, self._pattern, value)) for value in bad
            ]
        if len(ids) > MOST_IDS:
            return [(name, ids, _too_many(name, len(ids)))]
        return []


def _mismatch(name: str, pattern: re.Pattern[str], value: str) -> str:
    shown = "^" + pattern.pattern.removesuffix(r"\Z") + "$"
    return f"The `{name}` query parameter value [{value}] does not match {shown}"


def _are_ids(text: str, ids: list[str]) -> bool:
    """Whether all are ids, by a quick check; if it fails, they are checked one by one."""
    if not (text.isascii() and text.replace(",", "").isdigit()):
        return False
    lengths = set(map(len, ids))
    return min(lengths) > 0 and max(lengths) <= 19


def _too_many(name: str, values: int) -> str:
    return (
        f"The number of values in the `{name}` query parameter list [{values}] "
        f"is not between 1 and {MOST_IDS}"
    )


_KNOWN_VALUES: dict[str, tuple[str, ...]] = {
    "tweet.fields": TWEET_FIELDS,
    "post.fields": POST_FIELDS,
    "user.fields": USER_FIELDS,
    "media.fields": MEDIA_FIELDS,
    "poll.fields": POLL_FIELDS,
    "place.fields": PLACE_FIELDS,
    "expansions": EXPANSIONS,
}


def _unknown_values(fields: dict[str, set[str]]) -> list[Complaint]:
    complaints: list[Complaint] = []
    for name, known in _KNOWN_VALUES.items():
        for value in sorted(fields.get(name, set()).difference(known)):
            listing = ",".join(known)
            message = f"The `{name}` query parameter value [{value}] is not one of [{listing}]"
            complaints.append((name, [value], message))
    return complaints


def complaints_of(query: str, vocabulary: str) -> list[Complaint]:
    """What X complains of once it takes one vocabulary only, or no complaint."""
    if vocabulary == "both":
        return []
    refused = {"tweet.fields": "post.fields", "post.fields": "tweet.fields"}[vocabulary]
    asked = dict(parse_qsl(query))
    known = ",".join(name for name in OTHER_PARAMETERS if name != refused)
    complaints: list[Complaint] = []
    if refused in asked:
        message = f"The query parameter [{refused}] is not one of [{known}]"
        complaints.append((refused, asked[refused].split(","), message))
    taken = [name for name in POST_FIELDS if name not in NO_POST_FIELDS]
    for value in asked.get("post.fields", "").split(","):
        if value in NO_POST_FIELDS and vocabulary == "post.fields":
            listing = ",".join(taken)
            message = f"The `post.fields` query parameter value [{value}] is not one of [{listing}]"
            complaints.append(("post.fields", [value], message))
    return complaints


def _shape(params: dict[str, set[str]]) -> Shape:
    """Either spelling of a field is accepted; `post.fields` anywhere sets the reply's spelling."""
    posts, expanded = "post.fields" in params, params.get("expansions", set())
    fields = {TWEET_NAMES.get(name, name) for name in params.get("post.fields", ())}
    fields |= params.get("tweet.fields", set())
    fields |= {EXPANDED_FIELDS[name] for name in expanded.intersection(EXPANDED_FIELDS)}
    return Shape(
        fields=frozenset(fields),
        user_fields=frozenset(params.get("user.fields", ())),
        authors="author_id" in expanded,
        posts=posts,
    )
