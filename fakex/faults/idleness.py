"""What happens to connections left idle for a while: X, or a machine in front of it, drops them.

fin, rst: closed, properly or not. forget, swallow: dropped silently, so that the next request gets
a reset, or no answer at all. X itself never sees that request.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

_HOW = ("fin", "rst", "forget", "swallow")
# With this linger option, closing sends RST.
_LINGER_RESET = struct.pack("ii", 1, 0)
_NOTICE_S = 0.05


@dataclass(slots=True)
class Used:
    at: float
    ends: asyncio.TimerHandle | None


@dataclass(slots=True)
class Idleness:
    idle_s: float | None = None  # None: connections are kept
    how: str = "fin"
    counts: Counter[str] = field(default_factory=Counter)  # what happened since this was set
    _used: WeakKeyDictionary[asyncio.Transport, Used] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    def set(self, body: Mapping[str, Any]) -> None:
        """Take `{"idle_s": ..., "how": ...}`, or nothing to keep connections again."""
        how = str(body.get("how", "fin"))
        if how not in _HOW:
            raise ValueError(f"how is one of {', '.join(_HOW)}")
        self.idle_s = float(body["idle_s"]) if body else None
        for used in self._used.values():
            if used.ends is not None:
                used.ends.cancel()
        self._used.clear()
        self.how, self.counts = how, Counter()

    def to_dict(self) -> dict[str, Any]:
        counts = {name: self.counts[name] for name in ("opened", "closed", "lost")}
        return {"idle_s": self.idle_s, "how": self.how, **counts}

    async def takes(self, transport: asyncio.Transport | None) -> bool:
        """Whether the connection loses the request that has just come in on it."""
        if self.idle_s is None or transport is None:
            return False
        used = self._used.get(transport)
        if used is None:
            self.counts["opened"] += 1
            return False
        if used.ends is not None:
            used.ends.cancel()
        idle_s = asyncio.get_running_loop().time() - used.at
        if self.how in ("fin", "rst") or idle_s < self.idle_s:
            return False
        self.counts["lost"] += 1
        while self.how == "swallow" and not transport.is_closing():
            await asyncio.sleep(_NOTICE_S)
        _reset(transport)
        return True

    def rests(self, transport: asyncio.Transport | None) -> None:
        """A reply was sent on the connection, which is idle from now on."""
        if self.idle_s is None or transport is None:
            return
        loop, ends = asyncio.get_running_loop(), None
        if self.how in ("fin", "rst"):
            ends = loop.call_later(self.idle_s, self._close, transport)
        self._used[transport] = Used(loop.time(), ends)

    def _close(self, transport: asyncio.Transport) -> None:
        if self.how == "rst":
            _reset(transport)
        else:
            transport.close()
        # The loop closes the socket a little later: count it only when it is closed.
        asyncio.get_running_loop().call_later(_NOTICE_S, self.counts.update, ("closed",))


def _reset(transport: asyncio.Transport) -> None:
    found = transport.get_extra_info("socket")
    if found is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
    transport.abort()
