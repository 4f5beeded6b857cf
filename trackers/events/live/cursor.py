"""The position of a reader in the live feed: the last `id:` that it was sent.

Event ids would not do: they are assigned before the commit, and commits happen in any order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WRITTEN = re.compile(r"([0-9]{1,19})-([0-9]{1,4})")
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """What is read next."""

    place: int
    nth: int = 0  # the event of that row, from 0, or what comes after

    def __str__(self) -> str:
        return f"{self.place}-{self.nth}"


def read_cursor(text: str) -> Cursor:
    """The cursor of a Last-Event-ID; ValueError if it cannot be one."""
    match = _WRITTEN.fullmatch(text)
    if match is None or int(match[1]) > _LARGEST:
        raise ValueError(
            f"Last-Event-ID is the id of an event of this stream, such as 5368709120-3, and not "
            f"{text[:40]!r}."
        )
    return Cursor(int(match[1]), int(match[2]))
