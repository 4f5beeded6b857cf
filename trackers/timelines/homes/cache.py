"""Capped cache: the newest tweets of a home as a timeline of the store, `home:` and the follower.

The first read builds it: first an empty timeline is committed, into which deliveries go from then
on; then the earlier tweets are put in. The store cuts it to its size, and older tweets are read
from the sources. Once the store has expired it, the next read builds it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.db import connection

from trackers.timelines import store
from trackers.timelines.homes import embedding
from trackers.timelines.homes.built import Built
from trackers.timelines.homes.page import Embedded
from trackers.timelines.store import Bounds, Entry
from tweetwatch.database import array, compact_sql, cursor

_OF = "(SELECT id FROM trackers_timeline WHERE name = %(name)s AND live)"
_OLDER = compact_sql(f"""
    SELECT entry_id FROM trackers_timelineentry
    WHERE timeline_id = {_OF} AND dead_at IS NULL
      AND entry_id < %(before)s::bigint AND entry_id >= %(floor)s::bigint
    ORDER BY entry_id DESC LIMIT %(limit)s::int
""")
_NEWER = compact_sql(f"""
    SELECT entry_id FROM trackers_timelineentry
    WHERE timeline_id = {_OF} AND dead_at IS NULL AND entry_id > %(after)s::bigint
    ORDER BY entry_id LIMIT %(limit)s::int
""")
# The store cuts off the oldest, so the timeline is complete from its oldest entry on, which becomes
# the floor. Where nothing can have been cut, the floor stays.
_RAISE = compact_sql("""
    UPDATE trackers_builthome f SET floor = oldest.id
    FROM (
        SELECT home.follower_id, e.entry_id AS id
        FROM unnest(%(followers)s::bigint[], %(names)s::text[]) AS home(follower_id, name)
        CROSS JOIN LATERAL (
            SELECT id FROM trackers_timeline
            WHERE name = home.name AND live AND size >= %(lower)s::int LIMIT 1) t
        CROSS JOIN LATERAL (
            SELECT entry_id FROM trackers_timelineentry
            WHERE timeline_id = t.id AND dead_at IS NULL ORDER BY entry_id LIMIT 1) e
    ) oldest
    WHERE f.follower_id = oldest.follower_id AND f.strategy = 'cache' AND f.floor < oldest.id
""")
# No row once the store has expired the timeline: it cannot be read then.
STATE = compact_sql("""
    SELECT f.floor, f.built_at, t.read_on < (now() AT TIME ZONE 'UTC')::date AS due
    FROM trackers_builthome f CROSS JOIN LATERAL (
        SELECT read_on FROM trackers_timeline
        WHERE name = 'home:' || f.follower_id AND live LIMIT 1) t
    WHERE f.follower_id = %(follower)s AND f.strategy = %(strategy)s AND f.shape = %(shape)s
      AND f.built_at IS NOT NULL
""")


def timeline_name(follower_id: int) -> str:
    return f"home:{follower_id}"


class Cache(Built):
    key: ClassVar[str] = "cache"
    label: ClassVar[str] = "capped cache"
    served_by: ClassVar[str] = "cache"
    STATE: ClassVar[str] = STATE

    @property
    def depth(self) -> int:
        return self.settings.cache_size

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.depth, self.depth + self.settings.cache_slack)

    def embedded(self, follower_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
        return embedding.embedded_in(timeline_name(follower_id), ids, self.settings.embed)

    def touch(self, follower_id: int) -> None:
        """Read it through the store, which keeps the timeline from expiring."""
        store.get_multi([store.Ask(timeline_name(follower_id), 0, 1)])

    def builds_at_once(self, follower_id: int) -> bool:
        """Not within a caller's transaction, where it cannot be built: then a worker builds it."""
        if connection.in_atomic_block:
            return False
        self.rebuild(follower_id)
        return True

    def older(self, follower_id: int, before: int, floor: int, limit: int) -> list[int]:
        params = {
            "name": timeline_name(follower_id),
            "before": before,
            "floor": floor,
            "limit": limit,
        }
        with cursor() as db:
            return [row[0] for row in db.execute(_OLDER, params)]

    def newer(self, follower_id: int, after: int, limit: int) -> list[int]:
        params = {"name": timeline_name(follower_id), "after": after, "limit": limit}
        with cursor() as db:
            return [row[0] for row in db.execute(_NEWER, params)]

    def put(self, followers: Sequence[int], ids: Sequence[int]) -> None:
        names = [timeline_name(id) for id in followers]
        kept = embedding.metadata_for(ids, self.settings.embed)
        entries = [Entry(id, metadata=kept.get(id, b"")) for id in ids]
        store.append(entries, names, bounds=self.bounds)
        with cursor() as db:
            params = {"followers": array(followers), "names": names, "lower": self.depth}
            db.execute(_RAISE, params)

    def take(self, follower_id: int, ids: Sequence[int]) -> None:
        store.unmerge(timeline_name(follower_id), [Entry(id) for id in ids])

    def held(self, follower_id: int) -> list[int]:
        [found] = store.get_multi([store.Ask(timeline_name(follower_id), 0, None)])
        return [entry.id for entry in found.entries]

    def clear(self, follower_id: int) -> None:
        store.drop(timeline_name(follower_id))

    def stub(self, follower_id: int) -> None:
        store.set(timeline_name(follower_id), [])
