"""On read: a page is read from what the followed sources yielded and the followed accounts posted.

This defines what a home is; the other strategies must return the same. If `nearby` does not help,
each origin is first asked for its one tweet next to the anchor (`heads`). As many different ones as
the page has tweets give a bound: origins and tweets beyond it need not be read at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from trackers.timelines.homes import moment
from trackers.timelines.homes.nearby import FOLLOWED, MAX_NEARBY, both_ways, tries
from trackers.timelines.homes.page import (
    Ask,
    Candidate,
    Candidates,
    Embedded,
    Page,
    Way,
    build_page,
)
from trackers.timelines.homes.since import read_since
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import array, cursor
from tweetwatch.database import fetch_together as ask_all

CANDIDATES = both_ways("candidates", "beyond", "within", "order", "end")


def candidates(
    follower_id: int,
    way: Way,
    *,
    origins: Sequence[int] | None = None,
    followed: int | None = None,
) -> Candidates:
    """Candidates from all that the follower follows, or only from these origins.

    `followed`: how many it follows, at most SOME + 1; None: counted when needed.
    """
    params = {"follower": follower_id, "origins": None if origins is None else array(origins)}

    def next_to(anchor: int, limit: int) -> Sequence[Candidate]:
        nonlocal followed
        if followed is None:
            is_near = origins is None and limit <= MAX_NEARBY
            followed = _followed_by(follower_id) if is_near else 0
        rows: Sequence[tuple[int, bool]] = ()
        with cursor() as db:
            for query in (*tries(way, followed=followed, limit=limit), CANDIDATES[way]):
                rows = db.execute(query, {**params, "anchor": anchor, "limit": limit}).fetchall()
                if len(rows) == limit:
                    break
        return [Candidate(id, is_shown) for id, is_shown in rows]

    return next_to


def _followed_by(follower_id: int) -> int:
    with cursor() as db:
        row = db.execute(FOLLOWED, {"follower": follower_id}).fetchone()
    return row[0] if row else 0


def newest_ids(follower_id: int, limit: int, *, origins: Sequence[int] | None = None) -> list[int]:
    """The newest of the home, including tweets that are not shown now: they may come back."""
    found = candidates(follower_id, "older", origins=origins)(LARGEST_ID, limit)
    return [one.id for one in found]


def _read_page(ask: Ask) -> Page:
    """The page from the sources, which is its definition."""
    # The clock is read before the tweets; the number of follows comes in the same round trip.
    *now, [[followed]] = ask_all(*moment.CLOCK_QUERIES, (FOLLOWED, {"follower": ask.follower_id}))
    found = candidates(ask.follower_id, ask.way, followed=followed)
    return build_page(ask, found, served_by="read", clock=moment.text_of(*now))


class OnRead:
    """Stores nothing, so it is always correct, without upkeep."""

    key: ClassVar[str] = "read"
    label: ClassVar[str] = "on read"

    def page(
        self,
        follower_id: int,
        *,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
    ) -> Page:
        return _read_page(Ask.of(follower_id, limit, before, after))

    def since(self, follower_id: int, tweet_id: int | None = None, *, clock: str = "") -> Page:
        return read_since(follower_id, tweet_id, clock=clock)

    def embedded(self, follower_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
        return {}

    def rebuild(self, follower_id: int) -> None:
        pass

    def drop(self, follower_id: int) -> None:
        pass

    def deliver(self, origin_id: int, ids: Sequence[int], *, reach: int | None) -> int:
        return 0

    def followed(self, follower_id: int, origin_id: int) -> None:
        pass

    def unfollowed(self, follower_id: int, origin_id: int) -> None:
        pass
