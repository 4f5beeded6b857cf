"""Asking X how many posts a search finds, without reading them; each request is billed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from trackers.xapi.endpoints import ARCHIVE_COUNTS, COUNTS
from trackers.xapi.errors import Garbage
from trackers.xapi.keys import Keys
from trackers.xapi.parse.fields import INT8, json_type_name, read_object
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.session import CANONICAL
from trackers.xapi.wire.x_client import client_for

_COUNTS_ADDRESS = CANONICAL + COUNTS["v2"].removeprefix("GET ")
_ARCHIVE_COUNTS_ADDRESS = CANONICAL + ARCHIVE_COUNTS["v2"].removeprefix("GET ")
# What X calls a post here: OpenAPI 2.166 (2026-08-07), and 2.167 (2026-08-22).
_WORDS = ("tweet_count", "post_count")


@dataclass(frozen=True, slots=True)
class Span:
    """Posts of an hour or a day, or of the part of one at either end of what is counted."""

    since: datetime
    until: datetime
    posts: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Posts by hours or days, the oldest first."""

    spans: tuple[Span, ...]
    window: WindowSeen | None

    @property
    def posts(self) -> int:
        return sum(span.posts for span in self.spans)


def count_posts(keys: Keys, query: str, *, base_url: str, timeout: timedelta) -> Counted:
    """How many posts of the last seven days the query finds; raises XError and nothing else.

    One request, whose reply has all hours: "there is no next_token returned"
    (x-api/posts/counts/integrate/overview, 2026-08-22).
    """
    client = client_for(keys, base_url, timeout)
    params = {"query": query, "granularity": "hour"}
    return client.ask(
        COUNTS[keys.api],
        lambda: client.session.get(_COUNTS_ADDRESS, params=params),
        _read_counted,
        (),
    )


def count_archived(
    keys: Keys, query: str, since: datetime, until: datetime, *, base_url: str, timeout: timedelta
) -> Counted:
    """The same of any time, by days: of its newest 30 days, since the archive is counted in pages
    (x-api/posts/counts/integrate/overview, 2026-08-22). To the second; raises XError."""
    client = client_for(keys, base_url, timeout)
    between = {"start_time": _second(since), "end_time": _second(until)}
    params = {"query": query, "granularity": "day", **between}
    return client.ask(
        ARCHIVE_COUNTS[keys.api],
        lambda: client.session.get(_ARCHIVE_COUNTS_ADDRESS, params=params),
        _read_counted,
        (),
    )


def _second(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _read_counted(body: bytes, _: Sequence[int], *, window: WindowSeen | None) -> Counted:
    """Garbage for what is not a list of counts: a wrong number would be worse than none."""
    counted = read_object(body)
    data = counted.get("data", [] if _finds_nothing(counted.get("meta")) else None)
    if type(data) is not list:
        raise Garbage(f"X's data is {json_type_name(data)} instead of a list.")
    spans = sorted((_span(item) for item in data), key=lambda span: span.since)
    if any(one.until != after.since for one, after in pairwise(spans)):
        raise Garbage("X's counts have holes.")
    return Counted(tuple(spans), window)


def _finds_nothing(meta: Any) -> bool:
    """X gives no data for some queries that find nothing: "an empty response with a total tweet
    count of zero" (twarc 2.14, client2.py)."""
    return type(meta) is dict and 0 in [
        meta[f"total_{word}"] for word in _WORDS if f"total_{word}" in meta
    ]


def _span(item: Any) -> Span:
    if type(item) is not dict:
        raise Garbage(f"X's count is {json_type_name(item)} instead of an object.")
    posts = next((item[word] for word in _WORDS if word in item), None)
    if type(posts) is not int or not 0 <= posts <= INT8:
        raise Garbage("X's count has no number of posts.")
    return Span(_time(item, "start"), _time(item, "end"), posts)


def _time(item: Mapping[str, Any], name: str) -> datetime:
    try:
        at = datetime.fromisoformat(item[name])
    except (KeyError, TypeError, ValueError):
        raise Garbage(f"X's count has no readable {name}.") from None
    if at.tzinfo is None:
        raise Garbage(f"X's count has a {name} without a zone.")
    return at
