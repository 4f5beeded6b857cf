"""A queue between processes that no killed process can block: a socket pair, no lock.

`multiprocessing.Queue.get()` holds a lock while it waits, and a worker killed there keeps it for
ever: nobody reads again (django-q2 issue 23). Here the kernel is the queue: AF_UNIX/SOCK_SEQPACKET
hands each message whole to exactly one reader. Linux and fork only.
"""

from __future__ import annotations

import fcntl
import pickle
import select
import socket
import struct
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

STOP = "STOP"
# Seconds that a reader waits before it reports that it is idle.
_MOMENT = 0.05

# Requested from the kernel, which grants less where net.core.wmem_max is lower.
_WISHED_BUFFER = 1 << 20
# The kernel keeps 32 bytes of the buffer of a SOCK_SEQPACKET socket for itself.
_KERNEL_KEEPS = 32
# A task grows on its way: ack_id, cluster, times, and a traceback if it fails.
GROWTH = 16 * 1024


class UnsendableError(ValueError):
    """The message cannot be pickled, or (MessageTooLargeError) its pickle is too large."""


class MessageTooLargeError(UnsendableError):
    def __init__(self, size: int, most: int) -> None:
        super().__init__(
            f"A task of {size:,} bytes is too large: {most:,} can be handed to a worker. "
            "Put the data into a table and enqueue its key."
        )


def _pair() -> tuple[socket.socket, socket.socket]:
    reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    writer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _WISHED_BUFFER)
    return reader, writer


def _granted() -> int:
    """The largest message that this machine lets through."""
    reader, writer = _pair()
    with reader, writer:
        return writer.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) - _KERNEL_KEEPS


class Channel:
    """Replaces `multiprocessing.Queue` between a process and those that it forks.

    `maxsize` above 0, whatever the number: `put` waits until the message before is taken.
    0: `put` waits only while the kernel's buffer is full.
    `unsendable(message, error)` handles what cannot be sent; without it `put` raises.
    """

    # Bytes of the largest pickled message on this machine.
    MOST: Final = _granted()

    def __init__(
        self,
        maxsize: int = 0,
        *,
        unsendable: Callable[[Any, UnsendableError], None] | None = None,
    ) -> None:
        self._bounded = maxsize > 0
        self._unsendable = unsendable
        self._reader, self._writer = _pair()
        # Called before a reader waits for longer than a moment; each sets its own after the fork.
        self.before_rest: Callable[[], None] | None = None

    def put(self, message: Any) -> None:
        """Send it, waiting for room; UnsendableError if there is no `unsendable`.

        A worker with a result waits here while the monitor is dead. That is safe: it holds no lock
        that the guard needs to start a new monitor, or to kill the worker if its time runs out.
        """
        # The sentinel does not wait to send its stop messages: it must go on watching its children.
        if self._bounded and message != STOP:
            self._wait_until_empty()
        try:
            self.send(message)
        except UnsendableError as error:
            if self._unsendable is None:
                raise
            self._unsendable(message, error)

    def send(self, message: Any) -> None:
        """Send it, waiting only while the kernel's buffer is full; may raise UnsendableError."""
        self._writer.send(self._packet(message))

    def offer(self, message: Any) -> bool:
        """Send it if there is room now; return whether there was."""
        try:
            self._writer.send(self._packet(message), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def get(self) -> Any:
        """Wait for a message; no two readers get the same."""
        if self.before_rest is not None:
            end = time.monotonic() + _MOMENT
            # Another reader may have taken the message that was seen here.
            while self._is_filled(within=end - time.monotonic()):
                with suppress(BlockingIOError):
                    return self._message(self._reader.recv(self.MOST, socket.MSG_DONTWAIT))
            self.before_rest()
        return self._message(self._reader.recv(self.MOST))

    def latest(self) -> Any | None:
        """Read all messages that wait and return the newest; None when there are none."""
        message = None
        while True:
            try:
                message = self._message(self._reader.recv(self.MOST, socket.MSG_DONTWAIT))
            except BlockingIOError:
                return message

    def empty(self) -> bool:
        # The kernel counts what is sent and not yet read, so a killed reader cannot spoil it.
        return struct.unpack("i", fcntl.ioctl(self._writer, termios.TIOCOUTQ, bytes(4)))[0] == 0

    def qsize(self) -> int:
        """0, or 1 for anything that waits: the kernel counts bytes, not messages."""
        return 0 if self.empty() else 1

    def close(self) -> None:
        """Nothing to do: `put` has sent when it returns, and others may still read."""

    def join_thread(self) -> None:
        """Nothing to do: there is no thread. Waiting for readers here could wait for a dead one."""

    def _is_filled(self, *, within: float) -> bool:
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        return bool(poll.poll(max(0.0, within) * 1000))

    def _packet(self, message: Any) -> bytes:
        try:
            packet = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        # A class in the message may raise anything when it is pickled.
        except Exception as error:
            raise UnsendableError(f"It cannot be pickled: {error}") from error
        if len(packet) > self.MOST:
            raise MessageTooLargeError(len(packet), self.MOST)
        return packet

    def _message(self, packet: bytes) -> Any:
        return pickle.loads(packet)  # noqa: S301 - from a process that this one forked, or from its parent

    def _wait_until_empty(self) -> None:
        pause = 0.0005
        while not self.empty():
            time.sleep(pause)
            pause = min(2 * pause, 0.005)


def refuse_too_large(pack: str | bytes) -> None:
    """Raise MessageTooLargeError for a signed task that could not be handed to a worker.

    A signed task is base64, a third larger than the pickle that is sent, so this errs on the safe
    side, except with Q_CLUSTER["compress"]. The limit is this machine's; a cluster whose kernel
    grants less refuses the task when it meets it.
    """
    most = Channel.MOST - GROWTH
    if len(pack) > most:
        raise MessageTooLargeError(len(pack), most)
