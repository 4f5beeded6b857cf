"""Lists that are scrolled by anchors: a home, or what one source brought.

Both have the same interface, so that a page and a column can show either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.db.models import QuerySet
from django.utils import timezone

from trackers.ingest.sources.models import SourceTweet
from trackers.timelines import homes
from trackers.timelines.homes.page import Embedded, Page
from trackers.timelines.models import Follow
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID

EMPTY_PAGE = Page((), None, None, "")
# What was seen at one moment may be committed this much later.
_COMMITTED_WITHIN = timedelta(minutes=1)
# More new tweets than this are shown as "more than".
MAX_NEW = 800


class ScrolledList(Protocol):
    def page(self, *, limit: int, before: int | None, after: int | None) -> Page:
        """The tweets next to an anchor, newest first; without one the newest."""

    def since(self, top: int | None, clock: str) -> Page:
        """What came after the page that had this clock, with `top` as its newest tweet."""

    def among(self, ids: Sequence[int]) -> list[int]:
        """Those of the ids that are now in the list."""

    def embedded(self, ids: Sequence[int]) -> Mapping[int, Embedded]:
        """What it stores of these tweets as they were first seen."""

    def late(self, ids: Sequence[int]) -> set[int]:
        """Those of the ids that X showed only after younger ones had been read."""


@dataclass(frozen=True, slots=True)
class HomeList:
    """Empty without a follower, that is, as long as nothing was ever followed."""

    follower_id: int | None

    def page(self, *, limit: int, before: int | None, after: int | None) -> Page:
        if self.follower_id is None:
            return EMPTY_PAGE
        return homes.home_page(self.follower_id, limit=limit, before=before, after=after)

    def since(self, top: int | None, clock: str) -> Page:
        if self.follower_id is None:
            return EMPTY_PAGE
        return homes.home_since(self.follower_id, top, clock=clock)

    def among(self, ids: Sequence[int]) -> list[int]:
        if self.follower_id is None:
            return []
        return homes.ids_in_home(self.follower_id, ids)

    def embedded(self, ids: Sequence[int]) -> Mapping[int, Embedded]:
        if self.follower_id is None:
            return {}
        return homes.embedded(self.follower_id, ids)

    def late(self, ids: Sequence[int]) -> set[int]:
        followed = Follow.objects.filter(follower_id=self.follower_id or 0).values("origin_id")
        return _late_among(ids, source_id__in=followed)


@dataclass(frozen=True, slots=True)
class SourceList:
    source_id: int

    def page(self, *, limit: int, before: int | None, after: int | None) -> Page:
        """A page may be short: deleted tweets are left out after `limit` were read."""
        clock = timezone.now().isoformat()
        nearest = self.ids(limit + 1, before=before, after=after)
        older: int | None
        newer: int | None
        more, ids = len(nearest) > limit, sorted(nearest[:limit], reverse=True)
        if after is not None:
            older = ids[-1] if ids else min(after + 1, LARGEST_ID)
            newer = ids[0] if more else None
        else:
            older = ids[-1] if more else None
            newer = None if before is None else ids[0] if ids else max(before - 1, 0)
        return Page(tuple(self.among(ids)), older, newer, served_by="source", clock=clock)

    def since(self, top: int | None, clock: str) -> Page:
        try:
            at = datetime.fromisoformat(clock) - _COMMITTED_WITHIN
        except (ValueError, OverflowError):
            raise ValueError(f"{clock[:80]!r} is not the clock of a page.") from None
        if timezone.is_naive(at):
            raise ValueError(f"{clock[:80]!r} is not the clock of a page.")
        now = timezone.now().isoformat()
        new = self.ids(MAX_NEW + 1, after=top or 0)
        late = self.rows().filter(late=True, tweet_id__lt=top or 0).order_by("-tweet_id")
        came = [id for id, seen in late.values_list("tweet_id", "seen_at")[:MAX_NEW] if seen >= at]
        there = self.among([*new[::-1], *came])
        return Page(
            tuple(there[:MAX_NEW]),
            there[MAX_NEW - 1] if len(there) > MAX_NEW else None,
            None,
            "source",
            late=frozenset(came),
            clock=now,
        )

    def among(self, ids: Sequence[int]) -> list[int]:
        mine = self.rows().filter(tweet_id__in=ids).values("tweet_id")
        here = set(Tweet.objects.filter(pk__in=mine, gone_at=None).values_list("pk", flat=True))
        return [id for id in ids if id in here]

    def embedded(self, ids: Sequence[int]) -> Mapping[int, Embedded]:
        return {}

    def late(self, ids: Sequence[int]) -> set[int]:
        return _late_among(ids, source_id=self.source_id)

    def ids(self, most: int, *, before: int | None = None, after: int | None = None) -> list[int]:
        """Those nearest to the anchor first, including deleted ones."""
        rows = self.rows().order_by("-tweet_id" if after is None else "tweet_id")
        if after is not None:
            rows = rows.filter(tweet_id__gt=after)
        if before is not None:
            rows = rows.filter(tweet_id__lt=before)
        return list(rows.values_list("tweet_id", flat=True)[:most])

    def rows(self) -> QuerySet[SourceTweet]:
        return SourceTweet.objects.filter(source_id=self.source_id)


def _late_among(ids: Sequence[int], **which: object) -> set[int]:
    rows = SourceTweet.objects.filter(tweet_id__in=ids, late=True, **which)
    return set(rows.values_list("tweet_id", flat=True))
