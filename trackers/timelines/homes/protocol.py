"""The interface of a strategy. All return the same pages, but at different costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from trackers.timelines.homes.page import Embedded, Page


class HomeStrategy(Protocol):
    key: ClassVar[str]
    label: ClassVar[str]

    def page(
        self,
        follower_id: int,
        *,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
    ) -> Page:
        """The tweets next to an anchor, newest first; without one the newest."""

    def since(self, follower_id: int, tweet_id: int | None = None, *, clock: str = "") -> Page:
        """What came into the home after a tweet, or after a page was read (`Page.clock`)."""

    def embedded(self, follower_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
        """What the home stores of these tweets besides their ids, as in `Page.embedded`."""

    def rebuild(self, follower_id: int) -> None:
        """Rebuild the home. May be interrupted anywhere, and repeated."""

    def drop(self, follower_id: int) -> None:
        """Delete what is built."""

    def deliver(self, origin_id: int, ids: Sequence[int], *, reach: int | None) -> int:
        """Put tweets of an origin into the homes that follow it; return how many homes."""

    def followed(self, follower_id: int, origin_id: int) -> None:
        """Put in the tweets of an origin that is followed now, up to a bound."""

    def unfollowed(self, follower_id: int, origin_id: int) -> None:
        """Take out the tweets that no other followed origin brings."""
