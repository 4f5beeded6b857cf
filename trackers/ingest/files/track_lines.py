"""Track the tweets that lines of text name: pasted, piped or from a file, in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trackers.ingest.files.lines import read_tweets
from trackers.ingest.found_tweets import FoundTweet, Options, Rejected
from trackers.ingest.track_all import Chunk, track_stream


@dataclass(slots=True)
class TrackedLines:
    """What became of the lines read so far."""

    read: int = 0
    tracked: int = 0
    already: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    odd: list[FoundTweet] = field(default_factory=list)


def track_in_chunks(
    lines: Iterable[str], *, came_from: str, format: str = "auto", anyway: bool = False
) -> Iterator[Chunk]:
    """Track the tweets that the lines name; yields the counts of each chunk once it is committed.

    A chunk's rejected lines come with it, and are not kept here.
    """
    options = Options(anyway=anyway)
    return track_stream(read_tweets(lines, format=format, options=options), came_from=came_from)


def track_lines(
    lines: Iterable[str], *, came_from: str, format: str = "auto", anyway: bool = False
) -> TrackedLines:
    """Track the tweets that some pasted lines name; returns all counts and every rejected line."""
    total = TrackedLines()
    for chunk in track_in_chunks(lines, came_from=came_from, format=format, anyway=anyway):
        total.read += chunk.read
        total.tracked += chunk.tracked
        total.already += chunk.already
        total.rejected += chunk.rejected
        total.odd += chunk.odd
    return total
