"""Addresses whose answers last: how many of one sender may be open or wait for a thread.

The web server asks before it gives a request to a thread, so the others cost neither a thread nor
a look at the session: they get an answer that was made before.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

# Of one sender, and of all; per process.
MOST_OF_ONE, MOST_OF_ALL = 10, 32

_AUTHORIZATION = re.compile(rb"\nauthorization:[ \t]*([^\r\n]*)", re.IGNORECASE)
_COOKIES = re.compile(rb"\ncookie:[ \t]*([^\r\n]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Crowd:
    path: bytes
    cookie: bytes  # the name of the one that says who it is
    answer: bytes  # what those get who find no place

    def senders(self, head: bytes) -> set[bytes]:
        """Whoever a request could come from, unrecognizably: its token, and its session."""
        ways = _AUTHORIZATION.findall(head)
        for cookies in _COOKIES.findall(head):
            pairs = (pair.strip().partition(b"=") for pair in cookies.split(b";"))
            ways += [value for name, _, value in pairs if name == self.cookie]
        return {blake2b(way, digest_size=16).digest() for way in ways}


@dataclass(frozen=True, slots=True)
class Admission:
    """Of one request, until it is answered."""

    senders: tuple[bytes, ...]

    def leave(self) -> None:
        for sender in (_ALL, *self.senders):
            _open[sender] -= 1
            if not _open[sender]:
                del _open[sender]


_ALL = b""
_crowds: dict[bytes, Crowd] = {}
# Only the loop of the web server counts.
_open: Counter[bytes] = Counter()


def limit_crowd(crowd: Crowd) -> None:
    _crowds[crowd.path] = crowd


def whole_answer(
    content: bytes, content_type: str, *, status: str = "200 OK", **headers: str
) -> bytes:
    """A whole answer, after which the connection is closed."""
    fields = {
        "Content-Type": content_type,
        "Content-Length": str(len(content)),
        "Connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + content


def place_for(head: bytes) -> Admission | bytes | None:
    """A place; the answer if there is none; None for every other address."""
    path = head.partition(b"\r")[0].split(b" ")[1:2]
    crowd = _crowds.get(path[0].partition(b"?")[0]) if path else None
    if crowd is None:
        return None
    senders = crowd.senders(head)
    if _open[_ALL] >= MOST_OF_ALL or any(_open[one] >= MOST_OF_ONE for one in senders):
        return crowd.answer
    _open.update((_ALL, *senders))
    return Admission(tuple(senders))
