"""What the strategies that build homes have in common: when a built home may be read, how it is
built, and how it is kept correct.

page: what is built, and on read what is not yet delivered ─> truth ─> Page
                 └─ below the floor: on read
So a page is always the same as on read, however far deliveries have come.

build: a stub, committed: deliveries put into it from now on ─> the newest, on read ─> put ─> built
Locks: marks of origins in the order of ids, feeds in the order of followers, then what they hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from django.db import transaction

from trackers.jobs import queue
from trackers.timelines.homes import moment, on_read
from trackers.timelines.homes.membership import unbrought
from trackers.timelines.homes.page import Ask, Embedded, Page, build_page
from trackers.timelines.homes.progress import STATE, HomeProgress, parse_progress, select_progress
from trackers.timelines.homes.reading import HomeReading
from trackers.timelines.homes.since import read_since
from trackers.timelines.models import BuiltHome, HomeRebuild, HomeSettings
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import array, cursor
from tweetwatch.database import fetch_together as ask_all

_REBUILD = HomeRebuild.queue

# Locks: feeds, in the order of followers, as everywhere.
_TARGETS = """
    SELECT follower_id FROM trackers_builthome
    WHERE strategy = %(strategy)s AND follower_id = ANY(ARRAY(
        SELECT follower_id FROM trackers_follow
        WHERE origin_id = %(origin)s
          AND (%(reach)s::bigint IS NULL OR follower_id <= %(reach)s::bigint)))
    ORDER BY follower_id FOR NO KEY UPDATE
"""
_STUB = """
    INSERT INTO trackers_builthome (follower_id, strategy, shape, floor, total, built_at)
    SELECT id, %(strategy)s, %(shape)s, 0, 0, NULL FROM trackers_follower WHERE id = %(follower)s
    ON CONFLICT (follower_id, strategy) DO UPDATE
    SET shape = excluded.shape, floor = 0, total = 0, built_at = NULL
"""
_BUILT = """
    UPDATE trackers_builthome SET floor = greatest(floor, %(floor)s), built_at = clock_timestamp()
    WHERE follower_id = %(follower)s AND strategy = %(strategy)s
"""
_RAISE = """
    UPDATE trackers_builthome SET floor = %(floor)s
    WHERE follower_id = %(follower)s AND strategy = %(strategy)s AND floor < %(floor)s
"""
_WANT = """
    WITH put AS (
        INSERT INTO {job} (key, due_at, stamp) VALUES (%(follower)s, now(), %(stamp)s)
        ON CONFLICT (key) DO NOTHING
        RETURNING *
    )
    {into_buckets}
"""


class Built(ABC):
    """A strategy that builds homes."""

    key: ClassVar[str]
    label: ClassVar[str]
    served_by: ClassVar[str]
    STATE: ClassVar[str] = STATE

    def __init__(self, settings: HomeSettings) -> None:
        self.settings = settings
        self.shape = settings.shape(self.key)

    # How it is stored. All but `older` and `newer` run with the feed's row locked.

    @abstractmethod
    def older(self, follower_id: int, before: int, floor: int, limit: int) -> list[int]:
        """The next older than `before`, down to the floor, newest first."""

    @abstractmethod
    def newer(self, follower_id: int, after: int, limit: int) -> list[int]:
        """The next newer than `after`, oldest first."""

    @abstractmethod
    def put(self, followers: Sequence[int], ids: Sequence[int]) -> None:
        """Put all of the tweets, at least one, into each of the homes; those already there are
        skipped."""

    @abstractmethod
    def take(self, follower_id: int, ids: Sequence[int]) -> None:
        """Take out these tweets; they may come back."""

    @abstractmethod
    def held(self, follower_id: int) -> list[int]:
        """All tweets that it holds."""

    @abstractmethod
    def clear(self, follower_id: int) -> None:
        """Delete all that it holds."""

    @abstractmethod
    def stub(self, follower_id: int) -> None:
        """Delete all that it holds, and prepare it for `put`."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """How many tweets are put in when it is built."""

    # Reading the home.

    def page(
        self,
        follower_id: int,
        *,
        limit: int = 50,
        before: int | None = None,
        after: int | None = None,
    ) -> Page:
        ask = Ask.of(follower_id, limit, before, after)
        return self.with_embedded(follower_id, self.page_of(ask))

    def page_of(self, ask: Ask) -> Page:
        progress = self.progress(ask.follower_id, anchor=ask.anchor)
        if progress.state is None:
            if not self.builds_at_once(ask.follower_id):
                self.want(ask.follower_id)
                return self.on_read(ask, progress, served_by="read(rebuilding)", complete=False)
            progress = self.progress(ask.follower_id, anchor=ask.anchor)
        state = progress.state
        if state is None or ask.anchor < state.floor:
            return self.on_read(ask, progress)
        reading = HomeReading(self, ask, state, progress.undelivered)
        page = build_page(ask, reading.candidates, served_by=self.served_by, clock=progress.clock)
        return page if reading.is_unchanged else self.on_read(ask, progress)

    def on_read(
        self,
        ask: Ask,
        progress: HomeProgress,
        *,
        served_by: str = "read(fallback)",
        complete: bool = True,
    ) -> Page:
        """Read from the sources, and only after `progress`, whose clock the page gets."""
        candidates = on_read.candidates(ask.follower_id, ask.way, followed=progress.followed)
        return build_page(
            ask, candidates, served_by=served_by, complete=complete, clock=progress.clock
        )

    def since(self, follower_id: int, tweet_id: int | None = None, *, clock: str = "") -> Page:
        return self.with_embedded(follower_id, read_since(follower_id, tweet_id, clock=clock))

    def with_embedded(self, follower_id: int, page: Page) -> Page:
        embedded = self.embedded(follower_id, page.ids)
        return replace(page, embedded=embedded) if embedded else page

    def embedded(self, follower_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
        """What the home stores of these tweets besides their ids."""
        return {}

    def progress(self, follower_id: int, *, anchor: int = LARGEST_ID) -> HomeProgress:
        """How far the home is built, for a read from that anchor on, in one round trip. Call it
        before reading what is built: what is delivered in between is then read twice, rather than
        not at all."""
        params = {**self.named(follower_id), "anchor": anchor}
        progress = parse_progress(
            *ask_all((moment.NUMBER, {}), (select_progress(self.STATE), params))
        )
        if progress.is_due:
            self.touch(follower_id)
        return progress

    def named(self, follower_id: int) -> Mapping[str, object]:
        return {"follower": follower_id, "strategy": self.key, "shape": self.shape}

    def touch(self, follower_id: int) -> None:  # noqa: B027 - most have nothing to tell
        """Called at the first read of a day."""

    def builds_at_once(self, follower_id: int) -> bool:
        """Build it now, at the first read, if the strategy does so; returns whether it did."""
        return False

    def want(self, follower_id: int) -> None:
        """Have it built by a worker."""
        with cursor() as db:
            params = {"follower": follower_id, "stamp": queue.new_stamp()}
            db.execute(queue.on(_REBUILD, _WANT), params)

    # Keeping it up to date.

    def deliver(self, origin_id: int, ids: Sequence[int], *, reach: int | None) -> int:
        params = {"strategy": self.key, "origin": origin_id, "reach": reach}
        with cursor() as db:
            followers = [row[0] for row in db.execute(_TARGETS, params)]
        if followers and ids:
            self.put(followers, ids)
        return len(followers)

    def followed(self, follower_id: int, origin_id: int) -> None:
        feed = self.locked(follower_id)
        if feed is None:
            return
        most = self.settings.follow_backfill
        newest = on_read.newest_ids(follower_id, most + 1, origins=[origin_id])
        if len(newest) > most:
            self.raise_floor(follower_id, newest[most - 1])
        if ids := [id for id in newest[:most] if id >= feed.floor]:
            self.put([follower_id], ids)

    def unfollowed(self, follower_id: int, origin_id: int) -> None:
        if self.locked(follower_id) is None:
            return
        self.take(follower_id, unbrought(follower_id, self.held(follower_id)))

    def rebuild(self, follower_id: int) -> None:
        self.begin(follower_id)
        self.build(follower_id)

    def begin(self, follower_id: int) -> None:
        """Make it unreadable, but open to deliveries, from now on. Must be committed before the
        sources are read."""
        with transaction.atomic(durable=True), cursor() as db:
            # A follower that was deleted gets no row.
            if db.execute(_STUB, self.named(follower_id)).rowcount:
                self.stub(follower_id)

    def build(self, follower_id: int) -> None:
        """Put in the earlier tweets; then it can be read."""
        with transaction.atomic():
            if self.locked(follower_id) is None:
                return
            newest = on_read.newest_ids(follower_id, self.depth + 1)
            kept = newest[: self.depth]
            if kept:
                self.put([follower_id], kept)
            floor = kept[-1] if len(newest) > self.depth else 0
            with cursor() as db:
                params = {"follower": follower_id, "strategy": self.key, "floor": floor}
                db.execute(_BUILT, params)

    def drop(self, follower_id: int) -> None:
        with transaction.atomic():
            if self.locked(follower_id) is None:
                return
            self.clear(follower_id)
            BuiltHome.objects.filter(follower_id=follower_id, strategy=self.key).delete()

    def locked(self, follower_id: int) -> BuiltHome | None:
        """The home's row, locked until the transaction ends."""
        feeds = BuiltHome.objects.select_for_update(no_key=True)
        return feeds.filter(follower_id=follower_id, strategy=self.key).first()

    def raise_floor(self, follower_id: int, floor: int) -> None:
        with cursor() as db:
            db.execute(_RAISE, {"follower": follower_id, "strategy": self.key, "floor": floor})


def put_into(followers: Sequence[int], ids: Sequence[int]) -> dict[str, str]:
    """The parameters that the statements of all `put` methods share."""
    return {"followers": array(followers), "ids": array(sorted(set(ids)))}
