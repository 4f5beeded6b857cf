"""What a person or a file gives us, line by line: ids, addresses, CSV, JSONL, JSON.

lines ─> recognised ─> a reader ─> FoundTweet, or Rejected with its number and why ─> judged
A bad line is reported, and no other is refused because of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from trackers.ingest.files.judge import JUDGED, doubt_about
from trackers.ingest.files.opening import LONGEST_LINE, CutOff
from trackers.ingest.files.recognise import READERS, nothing_found, recognise
from trackers.ingest.found_tweets import DoubtError, FoundTweet, Numbered, Options, Rejected
from trackers.ingest.tweet_ids import id_of

__all__ = ["READERS", "FoundTweet", "Options", "Rejected", "id_of", "read_tweets"]

# In characters, each of at most four bytes; the last one may be in the next piece.
_LONGEST_PIECE = LONGEST_LINE // 4 - 1
# JUDGED tweets are judged together before the first is tracked, or so many lines without one.
_LOOKED_AT = 2000


def read_tweets(
    lines: Iterable[str], *, format: str = "auto", options: Options | None = None
) -> Iterator[FoundTweet | Rejected]:
    """Read ids, addresses, CSV or JSON; `auto` decides by the beginning.

    Empty lines are skipped, and so are those that begin with #, at the top or among ids. Raises
    UnreadableError, before the first tweet, when the options do not fit, and DoubtError where what
    the sample names are probably no tweets.
    """
    damage: list[Rejected] = []
    options = options or Options()
    filled = filled_in(lines, damage)
    recognised, sample = recognise(filled) if format == "auto" else (format, [])
    stream = READERS[recognised](chain(sample, filled), options)
    if recognised != "csv":
        # A table judges its column, of which it knows the name.
        stream = _judged(stream, recognised, options)
    is_empty = True
    for each in stream:
        is_empty = is_empty and isinstance(each, Rejected)
        yield each
    yield from damage
    if is_empty and sample:
        options.on_note(nothing_found(recognised, sample))


def _judged(
    stream: Iterator[FoundTweet | Rejected], format: str, options: Options
) -> Iterator[FoundTweet | Rejected]:
    """The same, once its beginning was judged as a whole. Raises DoubtError."""
    first: list[FoundTweet | Rejected] = []
    ids: list[int] = []
    for each in stream:
        first.append(each)
        if isinstance(each, FoundTweet) and not each.is_certain:
            ids.append(each.id)
        if len(ids) == JUDGED or len(first) == _LOOKED_AT:
            break
    if not options.anyway and (doubt := doubt_about(ids, is_list=format == "ids")):
        raise DoubtError(f"{doubt}.")
    yield from first
    yield from stream


def filled_in(lines: Iterable[str], damage: list[Rejected]) -> Numbered:
    """The lines that are not empty. If the file breaks off, they end, and `damage` says so.

    All pieces of one long line have its number.
    """
    number, ended = 0, True
    try:
        for line in lines:
            number += ended
            ended = len(line) < _LONGEST_PIECE or line.endswith("\n")
            # Only line ends are stripped: in a table, an empty first cell may be a tab.
            text = line.rstrip("\r\n").lstrip("\ufeff")
            if text.strip():
                yield number, text
    except CutOff as fault:
        damage.append(Rejected(number + 1, "", str(fault)))
