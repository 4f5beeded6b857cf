"""Requests to timelines, and the answers: a segment, or that there is no such timeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from trackers.timelines.entries import Entry, checked_count, checked_id, checked_name


class TimelineMissing(LookupError):
    """The timeline was never set, or it has expired; the caller has to set it."""


class SegmentState(StrEnum):
    HIT = "HIT"
    MISS = "MISS"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for a page, or for what came since an entry."""

    name: str
    offset: int = 0
    length: int | None = 50  # None: to the end
    dedupe: bool = False
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """What was requested, newest first. A missing timeline is a MISS."""

    state: SegmentState
    entries: list[Entry] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.entries)


def checked_ask(ask: Ask) -> Ask:
    if not isinstance(ask, Ask):
        raise ValueError(f"An ask must be an Ask, not {ask!r}.")
    checked_name(ask.name)
    offset = checked_count(ask.offset, of="An offset")
    length = None if ask.length is None else checked_count(ask.length, of="A length")
    since = None if ask.since is None else checked_id(ask.since)
    return Ask(ask.name, offset, length, bool(ask.dedupe), since)


def entries_of(segment: Segment, name: str) -> list[Entry]:
    if segment.state is SegmentState.MISS:
        raise missing(name)
    return segment.entries


def missing(name: str) -> TimelineMissing:
    return TimelineMissing(
        f"There is no timeline {name!r}: it was never created, or it has expired."
    )
