"""The state of a poll between two pages: plain values, stored in the rows of a source.

A sweep reads page by page from the newest post down to where the last one began. Its state after
each stored page is all that is needed to continue, after a crash or after a night.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from trackers.xapi.page import MAX_PAGE_SIZE, Excluded, PageKind

# poll: reads what is new. gap: reads what a poll had to leave out. overlap: reads recent posts
# again, to see what had slipped through.
Purpose = Literal["poll", "gap", "overlap"]
# budget: a poll's pages are used up. quota: X allows no more requests, or the money ran out.
# reach: X shows nothing older. repeats: X sent the same page again and again.
Why = Literal["budget", "quota", "reach", "repeats"]

_REACH: dict[PageKind, int | None] = {
    "account": 3200,
    "mentions": 800,
    "search": None,
    "list": 800,
    "archive": None,
}
_REACH_WITHOUT_REPLIES = 800


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How a source is read."""

    kind: PageKind
    k_ms: int = 5_000  # how late a post may appear
    lag_ms: int = 0  # how late all of them do
    pages: int = 10  # most pages of one poll
    page_size: int = MAX_PAGE_SIZE
    exclude: tuple[Excluded, ...] = ()
    margin: timedelta = timedelta(minutes=10)  # how far search stays above X's floor of seven days

    @property
    def reach(self) -> int | None:
        """How many of the newest posts X shows at all; None if there is no such limit."""
        if self.kind == "account" and "replies" in self.exclude:
            return _REACH_WITHOUT_REPLIES
        return _REACH[self.kind]


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source is read."""

    latest_id: int  # the newest id stored, or where the first poll began
    # When the last poll that read to its end began, by X's clock; None when X gave no time.
    asked_at_ms: int | None = None
    # The highest `since_id` of such polls: what appears below it slipped through.
    passed_id: int = 0


@dataclass(frozen=True, slots=True)
class Unread:
    """Posts that were not read: from_id < id < to_id; without from_id, all older ones."""

    from_id: int | None
    to_id: int
    why: Why
    token: str | None = None  # where a list continues, as lists know no ids

    @property
    def is_lost(self) -> bool:
        """X will never show it: only a person, with an import, can fill it."""
        return self.why == "reach"


@dataclass(frozen=True, slots=True)
class Sweep:
    """A reading under way, as of its last stored page."""

    purpose: Purpose
    since_id: int | None  # exclusive bounds of every page
    until_id: int | None
    pages_left: int  # until the budget is used up
    through_id: int | None = None  # everything up to here was read before
    pages: int = 0
    newest_id: int | None = None  # of the pages so far
    oldest_id: int | None = None  # of the pages so far
    asked_at_ms: int | None = None  # when the first page was asked for, by X's clock
    passed: int = 0  # roughly how many posts X has counted down to here
    token: str | None = None
    is_deep: bool = False  # the weekly overlap
    of_archive: bool = False  # X's full archive is asked, which has no floor
