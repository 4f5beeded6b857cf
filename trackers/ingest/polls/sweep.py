"""What a poll knows between two pages: plain values, which the rows of a source keep.

A sweep reads from the newest post down to where the last one began, page by page. Its state after
each stored page is all that going on needs, after a crash as after a night.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from trackers.xapi.page import MOST, Excluded, Kind

# poll: reads what is new. gap: reads what a poll had to leave out. overlap: reads again what was
# read, to see what had slipped through.
Purpose = Literal["poll", "gap", "overlap"]
# budget: the pages of a poll were used up. quota: X allows no more requests, or money ran out.
# reach: X shows nothing older. repeats: X sent the same page again and again.
Why = Literal["budget", "quota", "reach", "repeats"]

REACH: dict[Kind, int | None] = {"account": 3200, "mentions": 800, "search": None, "list": 800}
REACH_WITHOUT_REPLIES = 800


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """How a source is read. `k_ms`: how late a post may appear; `lag_ms`: how late all of them do.

    `pages`: of one poll at most. `margin`: how far search stays above X's floor of seven days.
    """

    kind: Kind
    k_ms: int = 5_000
    lag_ms: int = 0
    pages: int = 10
    page_size: int = MOST
    exclude: tuple[Excluded, ...] = ()
    margin: timedelta = timedelta(minutes=10)

    @property
    def reach(self) -> int | None:
        """How many of the newest posts X shows at all; None when it does not count them."""
        if self.kind == "account" and "replies" in self.exclude:
            return REACH_WITHOUT_REPLIES
        return REACH[self.kind]


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source is read.

    latest_id: the newest id that was stored, or where the first poll began. asked_at_ms: when the
    last poll that read to its end began, by X's clock; None when X never told. passed_id: the
    highest `since_id` of such polls: what appears below it slipped through.
    """

    latest_id: int
    asked_at_ms: int | None = None
    passed_id: int = 0


@dataclass(frozen=True, slots=True)
class Unread:
    """Posts that were not read: from_id < id < to_id; without from_id, all older ones.

    token: where a list goes on, which knows no ids.
    """

    from_id: int | None
    to_id: int
    why: Why
    token: str | None = None

    @property
    def is_lost(self) -> bool:
        """X will never show it: only a person, or an import, fills it."""
        return self.why == "reach"


@dataclass(frozen=True, slots=True)
class Sweep:
    """A reading under way, as it is after its last stored page.

    since_id, until_id: the exclusive bounds of every page. through_id: up to here all was read
    before. newest_id, oldest_id: of the pages so far. asked_at_ms: when the first page was asked
    for, by X's clock. passed: how many posts X has counted down to here, about. pages_left: until
    the budget is used up. is_deep: the overlap of the week.
    """

    purpose: Purpose
    since_id: int | None
    until_id: int | None
    pages_left: int
    through_id: int | None = None
    pages: int = 0
    newest_id: int | None = None
    oldest_id: int | None = None
    asked_at_ms: int | None = None
    passed: int = 0
    token: str | None = None
    is_deep: bool = False
