"""A page of a home that is laid out: from there, from undelivered origins, and from below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from trackers.timelines.feeds import read
from trackers.timelines.feeds.page import Ask, Candidate
from trackers.timelines.feeds.stands import State, state_of
from trackers.timelines.feeds.truth import still_shown
from tweetwatch.database import array, cursor


class LaidOut(Protocol):
    """Ids only: whether they are to be shown is asked for each page."""

    STATE: ClassVar[str]

    def named(self, watcher_id: int) -> Mapping[str, object]:
        """The parameters of STATE."""

    def older(self, watcher_id: int, before: int, floor: int, limit: int) -> list[int]:
        """The next older than `before`, down to the floor, newest first."""

    def newer(self, watcher_id: int, after: int, limit: int) -> list[int]:
        """The next newer than `after`, oldest first."""


@dataclass(slots=True)
class Reading:
    """One page's way through what is laid out, what is undelivered, and what lies below.

    Not `stands_still`: the home was built anew, cut back, or more is followed since `state` was
    told, so that what was read may not be all.
    """

    of: LaidOut
    ask: Ask
    state: State
    undelivered: Sequence[int]
    stands_still: bool = True

    def candidates(self, anchor: int, limit: int) -> Sequence[Candidate]:
        return (self.older if self.ask.way == "older" else self.newer)(anchor, limit)

    def older(self, anchor: int, limit: int) -> Sequence[Candidate]:
        watcher, floor = self.ask.watcher_id, self.state.floor
        found: list[Candidate] = []
        if anchor > floor:
            here = self.of.older(watcher, anchor, floor, limit)
            more = [one for one in self.on_read(anchor, limit) if one.id >= floor]
            found = self.shown(merged(here, more, limit, newest_first=True))
        if len(found) < limit and floor:
            below = read.candidates(watcher, "older")
            found += below(min(anchor, floor), limit - len(found))
        return found

    def newer(self, anchor: int, limit: int) -> Sequence[Candidate]:
        here = self.of.newer(self.ask.watcher_id, anchor, limit)
        return self.shown(merged(here, self.on_read(anchor, limit), limit, newest_first=False))

    def shown(self, ids: Sequence[int]) -> list[Candidate]:
        """The same ids, and whether each is in the home now; in the same statement, whether what
        they were read from still stands as it did."""
        named = self.of.named(self.ask.watcher_id)
        with cursor() as db:
            rows = db.execute(still_shown(self.of.STATE), {**named, "ids": array(ids)}).fetchall()
        state = state_of(*rows[0][2:]) if rows else None
        self.stands_still = self.stands_still and state == self.state
        return [Candidate(id, is_shown) for id, is_shown, *_ in rows if id is not None]

    def on_read(self, anchor: int, limit: int) -> Sequence[Candidate]:
        if not self.undelivered:
            return ()
        watcher, way = self.ask.watcher_id, self.ask.way
        return read.candidates(watcher, way, origins=self.undelivered)(anchor, limit)


def merged(
    here: Sequence[int], more: Sequence[Candidate], limit: int, *, newest_first: bool
) -> list[int]:
    """The nearest of both, each once."""
    if not more:
        return list(here)
    return sorted({*here, *(one.id for one in more)}, reverse=newest_first)[:limit]
