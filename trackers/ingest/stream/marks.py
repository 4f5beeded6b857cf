"""The mark of this installation in the tags of its rules at X, to recognise its own.

It is created once and kept in the stream's row: the key that signs cookies may change, and other
hosts may share it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from trackers.ingest.stream.models import Stream

PROGRAM = "tweetwatch:"


@dataclass(frozen=True, slots=True)
class Mark:
    """Several installations may use the same app at X: each changes only its own rules."""

    name: str

    @property
    def prefix(self) -> str:
        return f"{PROGRAM}{self.name}:"

    def tag_of(self, source: int) -> str:
        return f"{self.prefix}{source}"

    def is_on(self, tag: str) -> bool:
        """Whether the rule with this tag is ours."""
        return bool(self.name) and tag.startswith(self.prefix)

    def source_of(self, tag: str) -> int:
        """The source that a tag of ours names; 0 for any other."""
        number = tag.removeprefix(self.prefix) if self.is_on(tag) else ""
        return int(number) if number.isascii() and number.isdigit() else 0


NOBODYS = Mark("")


def new_mark() -> str:
    return secrets.token_hex(4)


def our_mark() -> Mark:
    """This database's mark; the row exists once the lease has ever been taken."""
    return Mark(Stream.objects.values_list("mark", flat=True).get())
