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
# Seconds that a reader waits before it says that it does.
MOMENT = 0.05

# Asked of the kernel; it grants less where net.core.wmem_max is lower.
WISHED_BUFFER = 1 << 20
# The kernel keeps 32 bytes of the buffer of a SOCK_SEQPACKET socket for itself.
KERNEL_KEEPS = 32
# A task grows on its way: ack_id, cluster, times, and a traceback if it fails.
GROWTH = 16 * 1024


class UnsendableError(ValueError):
    """What cannot cross: it has no pickle, or (MessageTooLargeError) a too large one."""


class MessageTooLargeError(UnsendableError):
    def __init__(self, size: int, most: int) -> None:
        super().__init__(
            f"A task of {size:,} bytes is too large: {most:,} can be handed to a worker. "
            "Put the data into a table and enqueue its key."
        )


def _pair() -> tuple[socket.socket, socket.socket]:
    reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    writer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WISHED_BUFFER)
    return reader, writer


def _granted() -> int:
    """The largest message that this machine lets through."""
    reader, writer = _pair()
    with reader, writer:
        return writer.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) - KERNEL_KEEPS


class Channel:
    """Stands for `multiprocessing.Queue` between a process and those that it forks.

    `maxsize` above 0, whatever it is: one message waits, and `put` waits for it to be taken.
    0: `put` waits only while the kernel's buffer is full.
    `unsendable(message, error)` decides about what cannot cross; without it `put` raises.
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
        # What a reader does before it waits for longer than a moment; its own, set after the fork.
        self.before_rest: Callable[[], None] | None = None

    def put(self, message: Any) -> None:
        """Hand it over, waiting for room: UnsendableError without an `unsendable`.

        On the way of results a worker waits here while the monitor is dead. It may: the guard
        needs no lock that this worker holds, puts up a new monitor, and kills the worker should
        its time run out first.
        """
        # The sentinel's pills wait for nobody: it must go on watching who ends.
        if self._bounded and message != STOP:
            self._wait_until_empty()
        try:
            self.send(message)
        except UnsendableError as error:
            if self._unsendable is None:
                raise
            self._unsendable(message, error)

    def send(self, message: Any) -> None:
        """Hand it over, waiting only while the kernel's buffer is full; UnsendableError."""
        self._writer.send(self._packet(message))

    def offer(self, message: Any) -> bool:
        """Hand it over if there is room now; whether there was."""
        try:
            self._writer.send(self._packet(message), socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def get(self) -> Any:
        """Wait for a message; no two readers get the same."""
        if self.before_rest is not None:
            end = time.monotonic() + MOMENT
            # Others wait too: one of them may have taken what was seen here.
            while self._is_filled(within=end - time.monotonic()):
                with suppress(BlockingIOError):
                    return self._message(self._reader.recv(self.MOST, socket.MSG_DONTWAIT))
            self.before_rest()
        return self._message(self._reader.recv(self.MOST))

    def latest(self) -> Any | None:
        """Read all that waits and return the newest; None when nothing does."""
        message = None
        while True:
            try:
                message = self._message(self._reader.recv(self.MOST, socket.MSG_DONTWAIT))
            except BlockingIOError:
                return message

    def empty(self) -> bool:
        # Sent and not yet taken, counted by the kernel, so a killed reader cannot spoil it.
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
        # Any class in the message may fail in its own way.
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
    """MessageTooLargeError for a signed task that could not be handed to a worker.

    A signed task is base64, a third larger than the pickle that crosses: errs on the safe side,
    but not with Q_CLUSTER["compress"]. Measured on this machine; where the cluster's own kernel
    grants less, the cluster refuses the task when it meets it.
    """
    most = Channel.MOST - GROWTH
    if len(pack) > most:
        raise MessageTooLargeError(len(pack), most)
