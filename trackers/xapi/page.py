"""A page of posts: what to ask X for, and what it answered, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from trackers.xapi.results import Missing, Post, WindowSeen

# archive: a search of all posts ever, where search itself is of the last week.
PageKind = Literal["account", "mentions", "search", "list", "archive"]
_QUERIES = ("search", "archive")
Excluded = Literal["replies", "retweets"]

# X's own limits on the size of a page.
FEWEST: Mapping[PageKind, int] = {
    "account": 5,
    "mentions": 5,
    "search": 10,
    "list": 1,
    "archive": 10,
}
MAX_PAGE_SIZE = 100
# Of the first post: "the complete archive back to 2006" (x-api/posts/search/introduction,
# 2026-08-22).
BEGAN_AT = datetime(2006, 3, 21, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ask:
    """One page. One that X would not take is a ValueError."""

    kind: PageKind
    of: int | str  # the id of the account or list, or the query
    since_id: int | None = None  # exclusive; lists have none
    until_id: int | None = None  # exclusive; lists have none
    token: str | None = None
    max_results: int = MAX_PAGE_SIZE
    exclude: tuple[Excluded, ...] = ()  # only some kinds take it
    start_time: datetime | None = None  # the same
    end_time: datetime | None = None  # the same, exclusive

    def __post_init__(self) -> None:
        if not FEWEST[self.kind] <= self.max_results <= MAX_PAGE_SIZE:
            raise ValueError(
                f"A page of {self.kind} is of {FEWEST[self.kind]} to {MAX_PAGE_SIZE} posts."
            )
        if isinstance(self.of, str) != (self.kind in _QUERIES):
            raise ValueError("Search wants a query, and the others an id.")
        ids, times = {self.since_id, self.until_id}, {self.start_time, self.end_time}
        if self.kind == "list" and ids | times != {None}:
            raise ValueError("X reads lists only from their head.")
        if self.kind in _QUERIES and {None} not in (ids, times):
            # "Invalid use of 'since_id' or 'until_id' in conjunction with 'start_time' or
            # 'end_time'." (DocNow/twarc#451, plhery/node-twitter-api-v2#152)
            raise ValueError("X searches between ids or between times, not both.")
        if self.exclude and self.kind != "account":
            raise ValueError("X can leave out replies and retweets only from an account's posts.")


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to one Ask; it may be empty."""

    # Shown, and well-formed, in X's order, without duplicates.
    posts: dict[int, Post]
    # Shown, but not as X documents (a one-line reason); these can be looked up.
    broken: dict[int, str]
    # Of all posts and broken ones, in X's order.
    ids: tuple[int, ...]
    # How many lacked even an id.
    unreadable: int
    replies: frozenset[int]
    retweets: frozenset[int]
    # Why X shows nothing of the account or list, if it said so; the page is empty then.
    missing: Missing | None
    next_token: str | None
    # When the request began by X's clock, or slightly earlier, never later: its Date less the
    # duration of the exchange. None when X sent no Date, or an incredible one.
    asked_at: datetime | None = None
    # How far our clock is ahead of X's, to half a second; None when X sent no Date.
    skew: timedelta | None = None
    window: WindowSeen | None = None

    @property
    def newest_id(self) -> int | None:
        return max(self.ids, default=None)

    @property
    def oldest_id(self) -> int | None:
        return min(self.ids, default=None)
