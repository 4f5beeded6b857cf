"""Reading requests for pages of posts: timelines, mentions, searches and lists.

What X would always refuse is refused here, with all complaints at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import unquote_plus

from fakex.endpoints import LIST_TWEETS, MENTIONS, SEARCH, SEARCH_ALL, USER_TWEETS
from fakex.wire.fields import OTHER_PARAMETERS
from fakex.wire.requests_v2 import ID, Complaint, Invalid, Shape, Shapes

_BETWEEN = ("since_id", "until_id", "start_time", "end_time")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)\Z")
_VALUES = {"exclude": ("replies", "retweets"), "sort_order": ("recency", "relevancy")}


@dataclass(frozen=True, slots=True)
class Sort:
    """A kind of listing: what may be asked of it, its page sizes and its depth."""

    parameters: tuple[str, ...]
    least: int
    usual: int
    most: int = 100
    depth: int | None = None
    subject: str = "id"


_SEARCHING = ("query", *_BETWEEN, "max_results", "next_token", "pagination_token", "sort_order")
SORTS = {
    USER_TWEETS: Sort((*_BETWEEN, "exclude", "max_results", "pagination_token"), 5, 10, depth=3200),
    MENTIONS: Sort((*_BETWEEN, "max_results", "pagination_token"), 5, 10, depth=800),
    SEARCH: Sort(_SEARCHING, 10, 10, subject="query"),
    # `maximum` and `default` of OpenAPI 2.166 and 2.167 (2026-08-22).
    SEARCH_ALL: Sort(_SEARCHING, 10, 10, most=500, subject="query"),
    LIST_TWEETS: Sort(("max_results", "pagination_token"), 1, 100, depth=800),
}
DEPTH_WITHOUT_REPLIES = 800


@dataclass(frozen=True, slots=True)
class PageAsk:
    """One page of a listing."""

    endpoint: str
    subject: str  # an account's or list's id, or the query
    shape: Shape
    max_results: int
    since_id: int | None = None  # exclusive
    until_id: int | None = None  # exclusive
    start_ms: int | None = None  # epoch ms, as the next
    end_ms: int | None = None
    exclude: frozenset[str] = frozenset()
    token: str | None = None
    ids: list[str] = field(default_factory=list)  # empty: nothing is requested by id


class PageReader:
    """Reads the queries of one kind of listing."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint, self._sort = endpoint, SORTS[endpoint]
        first = () if self._sort.subject == "query" else (self._sort.subject,)
        self._shapes = Shapes((*first, *self._sort.parameters, *OTHER_PARAMETERS))

    def read(self, subject: str, query: str) -> PageAsk:
        """The page asked for; `subject` is from the path. Raises Invalid."""
        params: dict[str, str] = {}
        rest: list[str] = []
        for part in query.split("&"):
            name, _, value = part.partition("=")
            if name in self._sort.parameters:
                params[name] = unquote_plus(value)
            elif part:
                rest.append(part)
        complaints: list[Complaint] = []
        shape = self._shapes.read(tuple(rest), complaints)
        if self._sort.subject == "query":
            subject = params.get("query", "")
            if not subject.strip():
                complaints.append(("query", [], "The `query` query parameter can not be empty"))
        elif not ID.match(subject):
            complaints.append(("id", [subject], _mismatch("id", subject)))
        ask = PageAsk(
            endpoint=self._endpoint,
            subject=subject,
            shape=shape,
            max_results=self._size(params, complaints),
            since_id=read_id("since_id", params, complaints),
            until_id=read_id("until_id", params, complaints),
            start_ms=read_time("start_time", params, complaints),
            end_ms=read_time("end_time", params, complaints),
            exclude=_listed("exclude", params, complaints),
            token=params.get("pagination_token") or params.get("next_token") or None,
        )
        _listed("sort_order", params, complaints)
        if complaints:
            raise Invalid(complaints)
        return ask

    def _size(self, params: dict[str, str], complaints: list[Complaint]) -> int:
        sort, value = self._sort, params.get("max_results")
        if value is None:
            return sort.usual
        if value.isascii() and value.isdigit() and sort.least <= int(value) <= sort.most:
            return int(value)
        message = f"The `max_results` query parameter value [{value}] is not between "
        complaints.append(("max_results", [value], f"{message}{sort.least} and {sort.most}"))
        return sort.usual


def read_id(name: str, params: dict[str, str], complaints: list[Complaint]) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    if ID.match(value):
        return int(value)
    complaints.append((name, [value], _mismatch(name, value)))
    return None


def read_time(name: str, params: dict[str, str], complaints: list[Complaint]) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    try:
        if _TIME.match(value):
            return round(datetime.fromisoformat(value).timestamp() * 1000)
    except ValueError:
        pass
    message = f"The `{name}` query parameter value [{value}] is not a valid RFC3339 timestamp"
    complaints.append((name, [value], message))
    return None


def _listed(name: str, params: dict[str, str], complaints: list[Complaint]) -> frozenset[str]:
    """The values of a parameter whose values are named."""
    values = {value for value in params.get(name, "").split(",") if value}
    listing = ",".join(_VALUES[name])
    for value in sorted(values.difference(_VALUES[name])):
        message = f"The `{name}` query parameter value [{value}] is not one of [{listing}]"
        complaints.append((name, [value], message))
    return frozenset(values)


def _mismatch(name: str, value: str) -> str:
    return f"The `{name}` query parameter value [{value}] does not match ^[0-9]{{1,19}}$"
