"""Checks all arguments of the timeline store before the database is used.

A wrong one raises a ValueError that says what is wrong; nothing has been changed then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from django.conf import settings

from trackers.timelines.models import MOST_LETTERS

_LEAST_ID, _LARGEST_ID = -(2**63), 2**63 - 1
_MOST_AT_ONCE = 2**31 - 1
_MAX_IDLE = timedelta(days=36_500)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    id: int
    secondary: int | None = None  # the original that it repeats, as a retweet does
    metadata: bytes = b""  # arbitrary bytes


def checked_names(names: Iterable[str]) -> list[str]:
    """Each name once, in the order in which the timelines are locked."""
    return sorted({checked_name(name) for name in checked_list(names, of="names of timelines")})


def checked_name(name: str) -> str:
    if not isinstance(name, str):
        raise ValueError(f"A timeline's name must be text, not {name!r}.")
    if not 1 <= len(name) <= MOST_LETTERS:
        raise ValueError(
            f"A timeline's name has 1 to {MOST_LETTERS} characters; {name[:20]!r}… has {len(name)}."
        )
    # Postgres can store neither NULs nor lone surrogates.
    if "\0" in name or (not name.isascii() and any("\ud800" <= one <= "\udfff" for one in name)):
        raise ValueError(
            f"A timeline's name must not contain NUL or lone surrogates, as {name!r} does."
        )
    return name


def checked_id(id: int) -> int:
    if not isinstance(id, int) or isinstance(id, bool):
        raise ValueError(f"The id of an entry must be a whole number, not {id!r}.")
    if not _LEAST_ID <= id <= _LARGEST_ID:
        raise ValueError(f"The id of an entry has 64 bits, and {id} has more.")
    return id


def checked_ids(ids: Iterable[int]) -> list[int]:
    return sorted({checked_id(id) for id in checked_list(ids, of="ids")})


def checked_entry(entry: Entry) -> Entry:
    if not isinstance(entry, Entry):
        raise ValueError(f"An entry must be an Entry, not {entry!r}.")
    checked_id(entry.id)
    if entry.secondary is not None:
        checked_id(entry.secondary)
    if not isinstance(entry.metadata, bytes):
        raise ValueError(f"The metadata of entry {entry.id} must be bytes, not {entry.metadata!r}.")
    if len(entry.metadata) > settings.TIMELINE_METADATA_BYTES:
        raise ValueError(
            f"The metadata of entry {entry.id} has {len(entry.metadata)} bytes; at most "
            f"{settings.TIMELINE_METADATA_BYTES} are allowed (TIMELINE_METADATA_BYTES)."
        )
    return entry


def checked_entries(entries: Iterable[Entry]) -> list[Entry]:
    """By ascending id; of several entries with the same id, the first."""
    entries_by_id: dict[int, Entry] = {}
    for entry in checked_list(entries, of="entries"):
        entries_by_id.setdefault(checked_entry(entry).id, entry)
    return [entries_by_id[id] for id in sorted(entries_by_id)]


def by_id(entry: Entry) -> int:
    return entry.id


def checked_count(value: int, *, of: str, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{of} must be a whole number of {least} or more, not {value!r}.")
    # More than any timeline has, and still an int for Postgres.
    return min(value, _MOST_AT_ONCE)


def checked_wait(wait: timedelta, *, of: str) -> timedelta:
    if not isinstance(wait, timedelta) or wait < timedelta(0):
        raise ValueError(f"{of} must be a timedelta of zero or more, not {wait!r}.")
    # Longer than anything here is old, and short enough for Postgres to subtract from now.
    return min(wait, _MAX_IDLE)


def checked_list(things: Iterable[T], *, of: str) -> list[T]:
    if isinstance(things, str | bytes) or not isinstance(things, Iterable):
        raise ValueError(f"A list of {of} is required, not {things!r}.")
    return list(things)


# Array literals as text, which psycopg adapts in a tenth of the time.


def texts(values: Iterable[str]) -> str:
    """text[]; the values have no NUL, which serves as a separator here."""
    joined = "\0".join(values)
    if not joined:
        return "{}"
    escaped = joined.replace("\\", "\\\\").replace('"', '\\"')
    return '{"' + escaped.replace("\0", '","') + '"}'


def array_elements(entry: Entry) -> tuple[str, str, str]:
    """Array elements: its id, what it repeats, and its metadata; empty ones are NULL."""
    secondary = "NULL" if entry.secondary is None else str(entry.secondary)
    return str(entry.id), secondary, f'"\\\\x{entry.metadata.hex()}"' if entry.metadata else "NULL"


def metadata_of(entries: Iterable[Entry]) -> str:
    """bytea[], with NULL for empty metadata."""
    return "{" + ",".join(array_elements(one)[2] for one in entries) + "}"
