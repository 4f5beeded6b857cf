"""A page of a built home: from what is built, from undelivered origins, and below the floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from trackers.timelines.homes import on_read
from trackers.timelines.homes.membership import still_shown
from trackers.timelines.homes.page import Ask, Candidate
from trackers.timelines.homes.progress import BuildState, build_state
from tweetwatch.database import array, cursor


class BuiltHome(Protocol):
    """Where ids are read from; each page checks whether they are shown."""

    STATE: ClassVar[str]

    def named(self, follower_id: int) -> Mapping[str, object]:
        """The parameters of STATE."""

    def older(self, follower_id: int, before: int, floor: int, limit: int) -> list[int]:
        """The next older than `before`, down to the floor, newest first."""

    def newer(self, follower_id: int, after: int, limit: int) -> list[int]:
        """The next newer than `after`, oldest first."""


@dataclass(slots=True)
class HomeReading:
    """Reads one page from what is built, what is undelivered, and what is below the floor."""

    built: BuiltHome
    ask: Ask
    state: BuildState
    undelivered: Sequence[int]
    # False if the home was rebuilt or cut since `state` was read, or more is followed; then what
    # was read may be incomplete.
    is_unchanged: bool = True

    def candidates(self, anchor: int, limit: int) -> Sequence[Candidate]:
        return (self.older if self.ask.way == "older" else self.newer)(anchor, limit)

    def older(self, anchor: int, limit: int) -> Sequence[Candidate]:
        follower, floor = self.ask.follower_id, self.state.floor
        tweets: list[Candidate] = []
        if anchor > floor:
            here = self.built.older(follower, anchor, floor, limit)
            more = [one for one in self.on_read(anchor, limit) if one.id >= floor]
            tweets = self.check_shown(_merged(here, more, limit, newest_first=True))
        if len(tweets) < limit and floor:
            below = on_read.candidates(follower, "older")
            tweets += below(min(anchor, floor), limit - len(tweets))
        return tweets

    def newer(self, anchor: int, limit: int) -> Sequence[Candidate]:
        here = self.built.newer(self.ask.follower_id, anchor, limit)
        return self.check_shown(
            _merged(here, self.on_read(anchor, limit), limit, newest_first=False)
        )

    def check_shown(self, ids: Sequence[int]) -> list[Candidate]:
        """The same ids, with whether each is shown in the home now. The same statement checks that
        the home's state is still as it was."""
        named = self.built.named(self.ask.follower_id)
        with cursor() as db:
            rows = db.execute(
                still_shown(self.built.STATE), {**named, "ids": array(ids)}
            ).fetchall()
        state = build_state(*rows[0][2:]) if rows else None
        self.is_unchanged = self.is_unchanged and state == self.state
        return [Candidate(id, is_shown) for id, is_shown, *_ in rows if id is not None]

    def on_read(self, anchor: int, limit: int) -> Sequence[Candidate]:
        if not self.undelivered:
            return ()
        follower, way = self.ask.follower_id, self.ask.way
        return on_read.candidates(follower, way, origins=self.undelivered)(anchor, limit)


def _merged(
    here: Sequence[int], more: Sequence[Candidate], limit: int, *, newest_first: bool
) -> list[int]:
    """The nearest ids from both, each once."""
    if not more:
        return list(here)
    return sorted({*here, *(one.id for one in more)}, reverse=newest_first)[:limit]
