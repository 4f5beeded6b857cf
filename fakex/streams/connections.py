"""One open stream: its opening reply, its waiting lines, how it ends, what was sent."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

from fakex.account.callers import Caller
from fakex.wire.replies import Reply
from fakex.wire.requests_v2 import Shape

How = Literal["whole", "twice", "garbled", "lost"]


@dataclass(frozen=True, slots=True)
class Line:
    post_id: int
    rules: tuple[str, ...]
    text: bytes
    how: How = "whole"


@dataclass(slots=True)
class Ending:
    """How a connection ends."""

    last: bytes = b""  # sent first
    is_abrupt: bool = False  # it is reset instead of closed
    is_half: bool = False


@dataclass(slots=True)
class Connection:
    """One open stream."""

    number: int
    caller: Caller
    shape: Shape
    opened_ms: int
    waiting: deque[Line] = field(default_factory=deque)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    lines: int = 0
    stalled: bool = False  # it sends nothing
    ending: Ending | None = None

    def put(self, line: Line) -> None:
        self.waiting.append(line)
        self.woken.set()

    def end(self, ending: Ending) -> None:
        if self.ending is None:
            self.ending = ending
        self.woken.set()

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "token": self.caller.name,
            "app": self.caller.app,
            "opened_ms": self.opened_ms,
            "lines": self.lines,
            "waiting": len(self.waiting),
            "stalled": self.stalled,
        }


@dataclass(slots=True)
class Opening(Reply):
    """The reply that opens a stream; lines follow over the connection."""

    connection: Connection = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Sent:
    """A line, and how it was written to the connection's socket, if at all."""

    seq: int
    at_ms: int
    connection: int
    post_id: int
    rules: tuple[str, ...]
    how: How

    def to_dict(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "at_ms": self.at_ms,
            "connection": self.connection,
            "id": str(self.post_id),
            "rules": list(self.rules),
            "how": self.how,
        }
