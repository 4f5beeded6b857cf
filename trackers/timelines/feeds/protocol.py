"""What a strategy can do. All of them answer with the same page; they differ in what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

from trackers.timelines.feeds.page import Embedded, Page


class FeedStrategy(Protocol):
    key: ClassVar[str]
    label: ClassVar[str]

    def page(
        self,
        watcher_id: int,
        *,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
    ) -> Page:
        """The tweets next to an anchor, newest first; without one the newest."""

    def since(self, watcher_id: int, tweet_id: int | None = None, *, clock: str = "") -> Page:
        """What came into the home after a tweet did, or after a page was read (`Page.clock`)."""

    def embedded(self, watcher_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
        """What the home keeps of these tweets besides their ids, as in `Page.embedded`."""

    def rebuild(self, watcher_id: int) -> None:
        """Lay the home out anew. May be broken off anywhere and done again."""

    def drop(self, watcher_id: int) -> None:
        """Forget what is laid out."""

    def deliver(self, origin_id: int, ids: Sequence[int], *, reach: int | None) -> int:
        """Put tweets of an origin into the homes of those who follow it; into how many."""

    def followed(self, watcher_id: int, origin_id: int) -> None:
        """Put in what is followed now, a bounded part of it."""

    def unfollowed(self, watcher_id: int, origin_id: int) -> None:
        """Take out what nothing else that is followed brings."""
