"""A TCP relay that a run can cut, stall, slow or wall off: the only way of a host to its servers.

host ──> 127.0.0.1:port ─ Relay ─> the server's address (a unix socket's path, or host and port)
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import deque
from contextlib import suppress

import uvloop

from tests.firewall import DroppingPort

# Closing with this sends RST: the other side sees "connection reset", not an orderly end.
AT_ONCE = struct.pack("ii", 1, 0)


class Side(asyncio.Protocol):
    """One end of a relayed connection; what comes in goes out at `other`."""

    def __init__(self, relay):
        self.relay = relay
        self.transport = self.other = None
        self.show = self.lost = None
        self.free_at = 0.0
        self.early, self.late = [], deque()

    def connection_made(self, transport):
        self.transport = transport
        self.relay.sides.add(self)
        if self.relay.stalled:
            transport.pause_reading()

    def data_received(self, data):
        self.pass_on(data)

    def eof_received(self):
        self.pass_on(b"")
        return True

    def connection_lost(self, _error):
        self.relay.sides.discard(self)
        if self.lost:
            self.lost()
        self.pass_on(None)

    def pass_on(self, data):
        """Bytes, an end (b""), or the loss of the connection (None): in this order."""
        if self.other is None or self.relay.stalled:
            # Held, but a read may have been under way.
            self.early.append(data)
            self.relay.waiting.add(self)
        else:
            self.relay.carry(self, data)

    def meet(self, other):
        self.other = other
        if not self.relay.stalled:
            self.go_on()

    def pause_writing(self):
        if self.other is not None:
            self.other.hold()

    def resume_writing(self):
        if self.other is not None and not self.relay.stalled:
            self.other.go_on()

    def hold(self):
        with suppress(RuntimeError):
            self.transport.pause_reading()

    def go_on(self):
        if self.other is not None:
            self.relay.waiting.discard(self)
            early, self.early = self.early, []
            for data in early:
                self.relay.carry(self, data)
        with suppress(RuntimeError):
            self.transport.resume_reading()

    def reset(self):
        sock = self.transport.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX:
            # uvloop's socket has no descriptor any more when it closed meanwhile.
            with suppress(OSError, ValueError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.transport.abort()


class Relay:
    """One way, from a port of its own to `target`; every method may be called from any thread.

    `target`: a path, or (host, port). `follower()` makes one watch a connection: it is shown what
    is passed on, `up(data)` and `down(data)`, and `lost()`.
    """

    def __init__(self, loop, target, *, follower=None):
        self.loop, self.target, self.follower = loop, target, follower
        self.sides, self.waiting, self.server = set(), set(), None
        self.port, self.stalled, self.delay, self.bandwidth = 0, False, 0.0, None
        self.firewall = None
        self.do(self.open())

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def cut(self):
        """Reset what is connected; refuse what comes."""
        self.do(self._cut())

    def drop(self):
        """Reset what is connected; who comes hears nothing, as behind a firewall."""
        self.do(self._cut())
        self.firewall = DroppingPort(self.port)

    def stall(self):
        """Accept what comes and pass nothing, either way."""
        self.do(self._stall())

    def slow(self, *, delay, bandwidth=None):
        """Pass everything `delay` seconds late and at `bandwidth` bytes a second."""
        self.delay, self.bandwidth = delay, bandwidth

    def heal(self):
        self.delay, self.bandwidth = 0.0, None
        self.let_through()
        self.do(self._heal())

    def close(self):
        self.let_through()
        self.do(self._cut())

    def let_through(self):
        if self.firewall is not None:
            self.firewall.close()
            self.firewall = None

    async def open(self):
        if self.server is None:
            self.server = await self.loop.create_server(
                self.accept, "127.0.0.1", self.port, reuse_address=True, backlog=200
            )
            self.port = self.server.sockets[0].getsockname()[1]

    async def _cut(self):
        if self.server is not None:
            self.server.close()
            self.server = None
        for side in self.sides | self.waiting:
            side.early.clear()
            side.reset()
        self.waiting.clear()

    async def _stall(self):
        self.stalled = True
        for side in list(self.sides):
            side.hold()

    async def _heal(self):
        self.stalled = False
        for side in self.sides | self.waiting:
            side.go_on()
        await self.open()

    def accept(self):
        side = Side(self)
        self.loop.create_task(self.connect(side))
        return side

    async def connect(self, side):
        try:
            if isinstance(self.target, str):
                _, far = await self.loop.create_unix_connection(lambda: Side(self), self.target)
            else:
                _, far = await self.loop.create_connection(lambda: Side(self), *self.target)
        except OSError:
            side.reset()
            return
        if self.follower:
            watch = self.follower()
            side.show, side.lost, far.show = watch.up, watch.lost, watch.down
        far.other = side
        side.meet(far)
        if side.transport.is_closing():
            far.reset()

    def carry(self, side, data):
        # Never before what was sent earlier, also when the relay was healed in between.
        if not self.delay and self.bandwidth is None and not side.late:
            self.deliver(side, data)
            return
        now = self.loop.time()
        takes = len(data or b"") / self.bandwidth if self.bandwidth else 0.0
        side.free_at = max(side.free_at, now + self.delay) + takes
        side.late.append(data)
        self.loop.call_at(side.free_at, self.deliver_next, side)

    def deliver_next(self, side):
        self.deliver(side, side.late.popleft())

    @staticmethod
    def deliver(side, data):
        to = side.other.transport
        if to.is_closing():
            return
        if data is None:
            to.close()
        elif data == b"":
            with suppress(OSError, NotImplementedError):
                to.write_eof()
        else:
            to.write(data)
            if side.show:
                side.show(data)


class Relays:
    """The loop of all relays, in a thread of its own."""

    def __init__(self):
        self.loop = uvloop.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="relays", daemon=True)
        self.thread.start()
        self.made = []

    def make(self, target, *, follower=None):
        relay = Relay(self.loop, target, follower=follower)
        self.made.append(relay)
        return relay

    def close(self):
        for relay in self.made:
            relay.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
