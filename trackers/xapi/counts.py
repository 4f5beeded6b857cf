"""Asking X how many posts a search finds, without reading them; each request is billed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from trackers.xapi.endpoints import COUNTS
from trackers.xapi.errors import Garbage
from trackers.xapi.keys import Keys
from trackers.xapi.parse.fields import INT8, json_type_name, read_object
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.session import CANONICAL
from trackers.xapi.wire.x_client import client_for

_COUNTS_ADDRESS = CANONICAL + COUNTS["v2"].removeprefix("GET ")
# What X calls a post here: OpenAPI 2.166 (2026-08-07), and 2.167 (2026-08-22).
_WORDS = ("tweet_count", "post_count")


@dataclass(frozen=True, slots=True)
class Hour:
    """Posts of an hour, or of the part of one with which the week begins and ends."""

    since: datetime
    until: datetime
    posts: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Posts of the last week by hours, the oldest first."""

    hours: tuple[Hour, ...]
    window: WindowSeen | None

    @property
    def posts(self) -> int:
        return sum(hour.posts for hour in self.hours)


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


def _read_counted(body: bytes, _: Sequence[int], *, window: WindowSeen | None) -> Counted:
    """Garbage for what is not a list of counts: a wrong number would be worse than none."""
    data = read_object(body).get("data")
    if type(data) is not list:
        raise Garbage(f"X's data is {json_type_name(data)} instead of a list.")
    hours = sorted((_hour(item) for item in data), key=lambda hour: hour.since)
    if any(one.until != after.since for one, after in pairwise(hours)):
        raise Garbage("X's counts have holes.")
    return Counted(tuple(hours), window)


def _hour(item: Any) -> Hour:
    if type(item) is not dict:
        raise Garbage(f"X's count is {json_type_name(item)} instead of an object.")
    posts = next((item[word] for word in _WORDS if word in item), None)
    if type(posts) is not int or not 0 <= posts <= INT8:
        raise Garbage("X's count has no number of posts.")
    return Hour(_time(item, "start"), _time(item, "end"), posts)


def _time(item: Mapping[str, Any], name: str) -> datetime:
    try:
        at = datetime.fromisoformat(item[name])
    except (KeyError, TypeError, ValueError):
        raise Garbage(f"X's count has no readable {name}.") from None
    if at.tzinfo is None:
        raise Garbage(f"X's count has a {name} without a zone.")
    return at
