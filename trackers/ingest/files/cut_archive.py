"""Reads the files of a ZIP archive as one: those that are like the first one with tweets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from trackers.ingest.files.archive import Archive, LeftOut, Member, shortened
from trackers.ingest.files.cut import Cut, cut
from trackers.ingest.files.limits import Limits, Taken
from trackers.ingest.files.recognise import READERS
from trackers.ingest.files.table import Record, cells_of, delimiter_of
from trackers.ingest.found_tweets import (
    FoundTweet,
    Options,
    Rejected,
    TooLargeError,
    UnreadableError,
)
from trackers.ingest.tweet_ids import ids_in

# Records of each file that are searched for a tweet.
_LOOKED_INTO = 200
_BY_ITSELF = "upload it by itself"
NO_TWEETS_IN_ARCHIVE = "This ZIP archive contains no file of tweets."


def cut_archive(archive: Archive, *, limits: Limits, taken: Taken) -> tuple[Cut, str]:
    """Its records, numbered continuously across its files; and what to tell the user about it.

    Raises UnreadableError when it contains no file of tweets.
    """
    first: Cut | None = None
    names: list[str] = []
    messages: list[str] = []
    for member, look in with_tweets(archive, limits=limits):
        if first is not None and (why := _unlike(look, first)):
            archive.left_out.append(LeftOut(member.name, why))
            continue
        first = first or look
        names.append(member.name)
        messages += [member.note] if member.note and member.note not in messages else []
    left_out = archive.left_out_note()
    if first is None:
        raise UnreadableError(f"{NO_TWEETS_IN_ARCHIVE} {left_out}".strip())
    files: list[tuple[str, int]] = []
    records = _all_records(archive, names, files, limits=limits, taken=taken)
    return replace(first, records=records, files=files), " ".join(
        filter(None, (*messages, left_out))
    )


def with_tweets(archive: Archive, *, limits: Limits) -> Iterator[tuple[Member, Cut]]:
    """Its files that begin with tweets, and how each is cut; the others are left out."""
    for member in archive.members():
        # Each file is checked against the limits by itself here.
        lines = archive.lines(member.name, passed=_nobody, limits=limits, taken=Taken())
        try:
            look = cut(lines)
            if _has_tweets(look):
                yield member, look
            else:
                archive.left_out.append(LeftOut(member.name, "no tweets in it"))
        except TooLargeError:
            raise
        except UnreadableError as fault:
            archive.left_out.append(LeftOut(member.name, str(fault).rstrip(".")))


def _nobody(_taken: int) -> None:
    """For callers that do not need the number of bytes read."""


def _unlike(look: Cut, first: Cut) -> str:
    """Why it is not read together with the first one; empty when it is."""
    if look.format != first.format:
        return f"of another format, {_BY_ITSELF}"
    if look.header.strip() != first.header.strip():
        return f"with other columns, {_BY_ITSELF}"
    return ""


def _all_records(
    archive: Archive,
    names: list[str],
    files: list[tuple[str, int]],
    *,
    limits: Limits,
    taken: Taken,
) -> Iterator[Record | Rejected]:
    """`files` gets the name of each and the number of its first line."""
    for name in names:
        before = taken.lines
        files.append((shortened(name), before + 1))
        for record in cut(archive.lines(name, passed=_nobody, limits=limits, taken=taken)).records:
            if isinstance(record, Rejected):
                yield replace(record, line=record.line + before)
            else:
                yield [(number + before, line) for number, line in record]


def _has_tweets(head: Cut) -> bool:
    """Whether there is a tweet among its first records."""
    records = [one for one in islice(head.records, _LOOKED_INTO) if not isinstance(one, Rejected)]
    if head.format == "csv":
        delimiter = delimiter_of(head.header)
        rows = [cells_of("\n".join(line for _, line in one), delimiter) for one in records]
        return any(ids_in(cell).ids for row in rows if not isinstance(row, str) for cell in row)
    lines = iter([line for one in records for line in one])
    reader = READERS["jsonl" if head.format == "json" else head.format]
    return any(isinstance(one, FoundTweet) for one in reader(lines, Options(referenced=True)))
