"""What can be scrolled: a home, what one source brought, what a saved view asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.db.models import QuerySet
from django.utils import timezone

from trackers.ingest.sources.models import SourceTweet
from trackers.listing.saved import matching_among, parse_view
from trackers.listing.search import next_ids
from trackers.timelines import homes
from trackers.timelines.homes.page import Embedded, Page
from trackers.timelines.models import Follow
from trackers.tweets.finding.direction import Direction
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.time_limits import TookTooLong

EMPTY_PAGE = Page((), None, None, "")
# More new tweets than this are shown as "more than".
MAX_NEW = 800
# What was seen at one moment may be committed this much later.
_COMMITTED_WITHIN = timedelta(minutes=1)


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
        more, ids = len(nearest) > limit, sorted(nearest[:limit], reverse=True)
        older, newer = _anchors_of(ids, before=before, after=after, more=more)
        return Page(tuple(self.among(ids)), older, newer, served_by="source", clock=clock)

    def since(self, top: int | None, clock: str) -> Page:
        at, now = _committed_from(clock), timezone.now().isoformat()
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
        return _present(ids, Tweet.objects.filter(pk__in=mine))

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


@dataclass(frozen=True, slots=True)
class ViewList:
    """What a saved view asks for, the newest first; `query` is the view's.

    A tweet that comes to match later stands in its place when the list is read again.
    """

    query: str

    def page(self, *, limit: int, before: int | None, after: int | None) -> Page:
        """As far as one search gets, which may be short of a page; without gone tweets.

        Where a search found none, the list ends: it would go on through all tweets by itself.
        """
        now = timezone.now()
        way = Direction(LARGEST_ID if before is None else before)
        if after is not None:
            way = Direction(after, up=True)
        try:
            finds = next_ids(parse_view(self.query), way, limit + 1, now=now)
        except TookTooLong:
            return EMPTY_PAGE
        ids = sorted(finds.ids[:limit], reverse=True)
        more = len(finds.ids) > limit or (finds.until is not None and bool(ids))
        older, newer = _anchors_of(ids, before=before, after=after, more=more)
        there = _present(ids, Tweet.objects.filter(pk__in=ids))
        return Page(tuple(there), older, newer, served_by="view", clock=now.isoformat())

    def since(self, top: int | None, clock: str) -> Page:
        _committed_from(clock)
        now = timezone.now()
        try:
            way = Direction(top or 0, up=True)
            finds = next_ids(parse_view(self.query), way, MAX_NEW + 1, now=now)
        except TookTooLong:
            return EMPTY_PAGE
        new = _present(finds.ids[::-1], Tweet.objects.filter(pk__in=finds.ids))
        older = new[MAX_NEW - 1] if len(new) > MAX_NEW else None
        return Page(tuple(new[:MAX_NEW]), older, None, "view", clock=now.isoformat())

    def among(self, ids: Sequence[int]) -> list[int]:
        """All of them where it took too long: what is there stays."""
        try:
            matches = matching_among(self.query, ids, now=timezone.now())
        except TookTooLong:
            return list(ids)
        return _present(ids, Tweet.objects.filter(pk__in=matches))

    def embedded(self, ids: Sequence[int]) -> Mapping[int, Embedded]:
        return {}

    def late(self, ids: Sequence[int]) -> set[int]:
        return set()


def _present(ids: Sequence[int], tweets: QuerySet[Tweet]) -> list[int]:
    """Those of the ids that are among these tweets, and not gone."""
    here = set(tweets.filter(gone_at=None).values_list("pk", flat=True)) if ids else set()
    return [id for id in ids if id in here]


def _anchors_of(
    ids: Sequence[int], *, before: int | None, after: int | None, more: bool
) -> tuple[int | None, int | None]:
    """From where a page with these ids, newest first, goes on to older and to newer ones. `more`:
    whether there are any beyond, in the direction in which it was read."""
    if after is not None:
        return ids[-1] if ids else min(after + 1, LARGEST_ID), ids[0] if more else None
    newer = None if before is None else ids[0] if ids else max(before - 1, 0)
    return ids[-1] if more else None, newer


def _committed_from(clock: str) -> datetime:
    """From when on commits may be missing in a page with this clock."""
    try:
        at = datetime.fromisoformat(clock) - _COMMITTED_WITHIN
    except (ValueError, OverflowError):
        raise ValueError(f"{clock[:80]!r} is not the clock of a page.") from None
    if timezone.is_naive(at):
        raise ValueError(f"{clock[:80]!r} is not the clock of a page.")
    return at


def _late_among(ids: Sequence[int], **which: object) -> set[int]:
    rows = SourceTweet.objects.filter(tweet_id__in=ids, late=True, **which)
    return set(rows.values_list("tweet_id", flat=True))
