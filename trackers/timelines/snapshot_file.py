"""Reads and checks a snapshot file line by line (its format is described in `snapshots`)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

import orjson

from trackers.timelines.entries import Entry, checked_id, checked_name

FORMAT, VERSION = "tweetwatch timelines", 1
# Bytes of the first line, which tells whether this is a snapshot at all.
_LONGEST_HEAD = 1000


class SnapshotError(ValueError):
    """The file cannot be restored; nothing was done."""


@dataclass(frozen=True, slots=True)
class Dumped:
    """A timeline; its entries in the order of insertion, each with the time of its deletion."""

    name: str
    live: bool
    read_at: datetime
    entries: list[tuple[Entry, datetime | None]]


def dumped_timelines(file: BinaryIO) -> Iterator[Dumped]:
    """The timelines of a snapshot. Only its end shows whether it is complete and undamaged."""
    head = file.readline(_LONGEST_HEAD)
    _check_head(head)
    digest, timelines, entries, last = hashlib.sha256(head), 0, 0, ""
    for number, line in enumerate(file, 2):
        document = _parsed(line, number)
        if "sha256" in document:
            _check_end(document, file, (timelines, entries, digest.hexdigest()))
            return
        try:
            timeline = _timeline_of(document)
        except (KeyError, TypeError, ValueError, binascii.Error) as fault:
            raise SnapshotError(f"Line {number} of the snapshot is damaged: {fault!r}.") from fault
        if timeline.name <= last:
            raise SnapshotError(f"Line {number} of the snapshot is not in its place.")
        digest.update(line)
        timelines, entries, last = timelines + 1, entries + len(timeline.entries), timeline.name
        yield timeline
    raise SnapshotError("The snapshot is cut off: its last line is missing.")


def _check_head(line: bytes) -> None:
    try:
        head = orjson.loads(line)
        is_ours = head["format"] == FORMAT
    except (ValueError, TypeError, KeyError):
        is_ours = False
    if not is_ours:
        raise SnapshotError("The file is not a snapshot of timelines.")
    if head.get("version") != VERSION:
        raise SnapshotError(
            f"The snapshot has version {head.get('version')!r}, but this program reads version "
            f"{VERSION}."
        )


def _parsed(line: bytes, number: int) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise SnapshotError(f"The snapshot is cut off: line {number} has no end.")
    try:
        document = orjson.loads(line)
    except ValueError as fault:
        raise SnapshotError(f"Line {number} of the snapshot is damaged: {fault}.") from fault
    if not isinstance(document, dict):
        raise SnapshotError(f"Line {number} of the snapshot is damaged: it is not an object.")
    return document


def _check_end(last_line: dict[str, Any], file: BinaryIO, actual: tuple[int, int, str]) -> None:
    if (last_line.get("timelines"), last_line.get("entries"), last_line["sha256"]) != actual:
        raise SnapshotError("The snapshot is damaged: its digest does not match its last line.")
    if file.read(1):
        raise SnapshotError("The snapshot is damaged: something follows its last line.")


def _timeline_of(document: dict[str, Any]) -> Dumped:
    if not isinstance(document["live"], bool):
        raise TypeError(document["live"])
    return Dumped(
        checked_name(document["name"]),
        document["live"],
        _parse_time(document["read_at"]),
        [
            (
                Entry(
                    checked_id(id),
                    None if secondary is None else checked_id(secondary),
                    base64.b64decode(metadata or "", validate=True),
                ),
                None if dead_at is None else _parse_time(dead_at),
            )
            for id, secondary, metadata, dead_at in document["entries"]
        ],
    )


def _parse_time(text: str) -> datetime:
    when = datetime.fromisoformat(text)
    if when.tzinfo is None:
        raise ValueError(f"{text} is in no time zone")
    return when
