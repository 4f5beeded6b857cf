"""A page of a home, and how it is gathered from candidates, some of which are not shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from trackers.tweets.snowflake import LARGEST_ID

_MAX_HOME_PAGE = 800
# The most candidates to request at once, when hardly any are shown.
_MAX_CANDIDATES = 5_000

Way = Literal["older", "newer"]


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a home stores of a tweet as it was first seen; None: nothing."""

    text: str | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    ids: tuple[int, ...]  # newest first
    older: int | None  # anchor to continue from; None: there is nothing more
    newer: int | None  # the same
    served_by: str
    # False while the home is being built, and the page was read from the sources.
    complete: bool = True
    # Tweets that came after younger ones were already there (`since`).
    late: frozenset[int] = frozenset()
    clock: str = ""  # for `since`, which then returns exactly what came after this page was read
    # What the strategy keeps of tweets that X still shows, by id.
    embedded: Mapping[int, Embedded] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for a page."""

    follower_id: int
    limit: int  # tweets next to the anchor, on its older or newer side
    way: Way
    anchor: int

    @classmethod
    def of(cls, follower_id: int, limit: int, before: int | None, after: int | None) -> Ask:
        if before is not None and after is not None:
            raise ValueError("A page is before a tweet or after one, not both.")
        if not 0 <= limit <= _MAX_HOME_PAGE:
            raise ValueError(f"A page may have up to {_MAX_HOME_PAGE} tweets, not {limit}.")
        for anchor in (before, after):
            if anchor is not None and not 0 <= anchor <= LARGEST_ID:
                raise ValueError(f"{anchor} is not the id of a tweet.")
        if after is not None:
            return cls(follower_id, limit, "newer", after)
        return cls(follower_id, limit, "older", LARGEST_ID if before is None else before)

    @property
    def has_anchor(self) -> bool:
        return self.way == "newer" or self.anchor < LARGEST_ID


class Candidate(NamedTuple):
    id: int
    is_shown: bool


# (anchor, limit) -> up to `limit` candidates beyond the anchor, nearest first; fewer: no more.
Candidates = Callable[[int, int], Sequence[Candidate]]


def _gather(candidates: Candidates, *, anchor: int, wanted: int) -> list[int]:
    """The nearest to the anchor that are shown: as many as are wanted, or all that there are.

    It asks for a few more, since most homes have tweets that are gone: a second query would cost as
    much again.
    """
    shown_ids: list[int] = []
    at_once = wanted + wanted // 8 + 4
    while wanted:
        some = candidates(anchor, at_once)
        shown_ids += [one.id for one in some if one.is_shown]
        if len(shown_ids) >= wanted or len(some) < at_once:
            break
        anchor, at_once = some[-1].id, min(4 * at_once, _MAX_CANDIDATES)
    return shown_ids[:wanted]


def build_page(
    ask: Ask, candidates: Candidates, *, served_by: str, complete: bool = True, clock: str = ""
) -> Page:
    """Make the page; it looks for one tweet more, to know whether there are more."""
    if not ask.limit:
        return Page((), None, None, served_by, complete, clock=clock)
    found = _gather(candidates, anchor=ask.anchor, wanted=ask.limit + 1)
    ids, is_more = found[: ask.limit], len(found) > ask.limit
    if ask.way == "older":
        older = ids[-1] if is_more else None
        # The other side of the anchor was not searched, so there may be more.
        newer = (ids[0] if ids else max(ask.anchor - 1, 0)) if ask.has_anchor else None
        return Page(tuple(ids), older, newer, served_by, complete, clock=clock)
    ids.reverse()
    older = ids[-1] if ids else min(ask.anchor + 1, LARGEST_ID)
    newer = ids[0] if is_more else None
    return Page(tuple(ids), older, newer, served_by, complete, clock=clock)
