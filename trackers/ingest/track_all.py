"""Tracks all that a reader found; a value that the database refuses costs only its own line.

found, some thousands ─> tracked together ─ refused ─> by halves ─> the one: its id alone, a warning
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from django.db import DatabaseError, DataError, IntegrityError

from trackers.ingest.found_tweets import FoundTweet, Rejected
from trackers.ingest.track import CHUNK, track_chunk
from trackers.tweets.versions import KnownTweet

# A statement that is too long or complex for the server, such as a text of a million words.
_TOO_MUCH = "54"
# By halves, each costs a dozen statements. If there are more, only the ids of the rest are tracked.
_SOUGHT_AT_MOST = 20
_REFUSED = "the database refuses what came with it ({}): only the id is taken"


@dataclass(frozen=True, slots=True)
class TrackedAll:
    """What became of them."""

    tracked: int = 0
    already: int = 0
    odd: tuple[FoundTweet, ...] = ()  # those with a warning
    versions: Mapping[int, KnownTweet] = field(default_factory=dict)  # as in `Tracked`


@dataclass(frozen=True, slots=True)
class Chunk:
    """What became of the tweets read since the last chunk, what was rejected among them, and which
    are tracked with a warning."""

    read: int
    tracked: int = 0
    already: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    odd: tuple[FoundTweet, ...] = ()


def track_stream(
    stream: Iterable[FoundTweet | Rejected], *, came_from: str, paused: bool = False
) -> Iterator[Chunk]:
    """Track what a reader found; the counts of each chunk once it is committed.

    Chunks are cut by what was read, not by what was found, so even a file of nothing but bad lines
    is not kept in memory.
    """
    iterator = iter(stream)
    while chunk := list(islice(iterator, CHUNK)):
        rejected = [one for one in chunk if isinstance(one, Rejected)]
        tweets = [one for one in chunk if isinstance(one, FoundTweet)]
        done = track_all(tweets, came_from=came_from, paused=paused)
        yield Chunk(len(chunk), done.tracked, done.already, rejected, done.odd)


def track_all(tweets: Sequence[FoundTweet], *, came_from: str, paused: bool = False) -> TrackedAll:
    """Track them, in the caller's transaction if there is one. `paused`: the new ones are not
    looked up until they are resumed."""
    tracked = already = sought = 0
    odd: list[FoundTweet] = []
    versions: dict[int, KnownTweet] = {}
    waiting = [list(tweets)] if tweets else []
    while waiting:
        some = waiting.pop()
        try:
            done = track_chunk(some, came_from=came_from, paused=paused)
        except (DatabaseError, UnicodeError) as fault:
            if not _is_refusal(fault) or all(one.post is None for one in some):
                raise
            sought += 1
            if len(some) == 1 or sought > _SOUGHT_AT_MOST * len(bin(len(tweets))):
                waiting.append([_bare(one, fault) for one in some])
            else:
                # In the order of ids, as everywhere that many are inserted or locked.
                some.sort(key=lambda one: one.id)
                middle = len(some) // 2
                waiting += [some[middle:], some[:middle]]
            continue
        tracked, already = tracked + done.tracked, already + done.already
        versions.update(done.versions)
        odd += [one for one in some if one.odd]
    return TrackedAll(tracked, already, tuple(odd), versions)


def _is_refusal(fault: Exception) -> bool:
    """Whether the database refuses the values, and would refuse them again."""
    if isinstance(fault, DataError | IntegrityError | UnicodeError):
        return True
    return (getattr(fault.__cause__, "sqlstate", None) or "").startswith(_TOO_MUCH)


def _bare(tweet: FoundTweet, fault: Exception) -> FoundTweet:
    if tweet.post is None:
        return tweet
    why = str(fault).strip().partition("\n")[0][:100]
    return replace(tweet, post=None, odd="; ".join(filter(None, (tweet.odd, _REFUSED.format(why)))))
