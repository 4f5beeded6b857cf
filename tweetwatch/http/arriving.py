"""A worker of gunicorn whose threads get a request only once it has arrived.

accepted ─> its head, 10 s in all ─> a body of up to 64 kB, 30 s in all ─> a thread
                                 └─> a larger body ─────────────────────> a thread, which reads it,
                                                          in 30 s, only for somebody who is known

Until then one loop reads all connections, and none of them holds a thread: they cost some memory,
and whoever has waited longest makes room when there are too many. gunicorn's own threads would wait
for the rest of a head or a body for as long as its sender likes.
"""

from __future__ import annotations

import errno
import re
import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from gunicorn import util
from gunicorn.http.unreader import SocketUnreader
from gunicorn.http2 import negotiation
from gunicorn.workers.gthread import TConn, ThreadWorker

from tweetwatch.http import crowds, lasting
from tweetwatch.http.crowds import whole_answer

HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
# For a client that goes on sending: if we closed at once, its kernel could drop our answer.
LINGER_SECONDS = 2.0
# As much as a stranger may send (`http.bodies`), and more than gunicorn takes as a head.
SMALL_BODY = 64 * 1024
_MAX_HEAD = 64 * 1024
_BLOCK = 64 * 1024

_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\ntransfer-encoding:", re.IGNORECASE)
_END_OF_CHUNKS = re.compile(rb"\n0+[ \t]*(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n")
_EXPECTS = re.compile(rb"\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
_NO_FILES_LEFT = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_NOTHING_TO_ACCEPT = {errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED}


class Arrived(SocketUnreader):
    """What has arrived of a connection, and of a body what may still come."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        self.deadline = 0.0  # of the body that is read; 0: nothing is waited for
        self.silence = 0.0  # of a file: seconds without a byte that end it
        self.is_cut_off = False

    def chunk(self, size_hint: int | None = None) -> bytes:
        if not self.deadline:
            self.is_cut_off = True
            return b""
        patience = self.silence or self.deadline - time.monotonic()
        if patience <= 0:
            raise TimeoutError
        before = self.sock.gettimeout()
        self.sock.settimeout(patience)
        try:
            data: bytes = super().chunk(size_hint)
        finally:
            self.sock.settimeout(before)
        if not data:
            # Else half a form would be read as a whole one.
            raise ConnectionResetError
        return data


class Connection(TConn):
    """One connection: what has arrived of its next request, and until when the rest may come."""

    def __init__(self, worker: ArrivalWorker, *given: Any) -> None:
        super().__init__(*given)
        self.worker = worker
        self.since = self.deadline = 0.0
        self.crowd: crowds.Admission | None = None
        self.expect_request()

    def expect_request(self) -> None:
        left = self.parser.unreader.take_buffered() if self.parser else b""
        self.arrived = bytearray(left)
        self.head_size = 0
        self.body_size: int | None = 0  # None: in chunks
        self.since = time.monotonic()
        self.deadline = self.since + HEAD_SECONDS

    @property
    def is_large(self) -> bool:
        """Whether a thread reads the body, if anybody does."""
        return self.body_size is not None and self.body_size > SMALL_BODY

    def is_complete(self) -> bool:
        """Whether a thread can take the request; ValueError if its head is too long."""
        if not self.head_size:
            end = self.arrived.find(b"\r\n\r\n")
            if end < 0:
                if len(self.arrived) > _MAX_HEAD:
                    raise ValueError("The head of this request is too long.")
                return False
            self._read_head(end + 4)
        arrived = len(self.arrived) - self.head_size
        if self.is_large or arrived > SMALL_BODY:
            return True
        if self.body_size is None:
            # From the end of the head's last line on.
            return _END_OF_CHUNKS.search(self.arrived, self.head_size - 1) is not None
        return arrived >= self.body_size

    def _read_head(self, size: int) -> None:
        """How long the body is. gunicorn's parser decides what the head means, and refuses one that
        is ambiguous: here a mistake would only make a thread wait for a body for its 30 s."""
        head = bytes(self.arrived[:size])
        self.deadline = time.monotonic() + BODY_SECONDS
        length = _LENGTH.search(head)
        self.body_size = None if _CHUNKED.search(head) else int(length[1]) if length else 0
        self.head_size = size
        if _EXPECTS.search(head) and not self.is_large:
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            without = _EXPECTS.sub(b"\n", head)
            self.arrived[:size] = without
            self.head_size = len(without)

    def send(self, data: bytes) -> None:
        """What fits into the socket's buffer at once."""
        try:
            self.sock.send(data)
        except OSError:
            return

    def hand_over(self) -> None:
        """To a thread, with all that has arrived."""
        self.init()
        if not isinstance(self.parser.unreader, Arrived):
            self.parser.unreader = Arrived(self.sock)
        self.parser.unreader.unread(bytes(self.arrived))
        self.parser.unreader.deadline = 0.0
        self.arrived = bytearray()

    def close(self, graceful: bool = False) -> None:
        if graceful:
            self.worker.linger(self)
        else:
            util.close(self.sock)


class ArrivalWorker(ThreadWorker):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # In the order in which they began to wait.
        self.arriving: dict[Connection, None] = {}
        self.lingering: dict[Connection, None] = {}
        self.is_full = False

    def load_wsgi(self) -> None:
        super().load_wsgi()
        lasting.share_threads(self.cfg.threads)
        application: Any = self.wsgi

        def serve(environ: dict[str, Any], start_response: Any) -> Any:
            # gunicorn says so even of a single one.
            environ["wsgi.multithread"] = self.cfg.threads > 1
            return application(environ, start_response)

        self.wsgi: Any = serve

    def accept(self, listener: socket.socket) -> None:
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in _NO_FILES_LEFT:
                self.is_full = True
            elif error.errno not in _NOTHING_TO_ACCEPT:
                raise
            return
        self.nr_conns += 1
        self.is_full = self.nr_conns >= self.worker_connections
        self.enqueue_req(Connection(self, self.cfg, sock, client, listener.getsockname()))

    def enqueue_req(self, conn: Connection) -> None:
        """gunicorn calls this in its loop for a new connection, and for one that is used again."""
        if self.cfg.is_ssl or negotiation.prior_knowledge_allowed(self.cfg, conn.client):
            super().enqueue_req(conn)
            return
        conn.expect_request()
        conn.sock.setblocking(False)
        self.arriving[conn] = None
        self._listen_to(conn, self.on_more)
        if conn.arrived:
            self._look_at(conn)

    def on_more(self, conn: Connection) -> None:
        if data := self._read(conn):
            conn.arrived += data
            self._look_at(conn)
        elif data is not None and conn.head_size:
            self._refuse(conn, "400 Bad Request", "The body is incomplete. Send it again.")
        elif data is not None:
            self._drop(conn)

    def _look_at(self, conn: Connection) -> None:
        try:
            is_complete = conn.is_complete()
        except ValueError as fault:
            self._refuse(conn, "431 Request Header Fields Too Large", str(fault))
            return
        if is_complete:
            self._start(conn)

    def _start(self, conn: Connection) -> None:
        place = crowds.place_for(bytes(conn.arrived[: conn.head_size]))
        if isinstance(place, bytes):
            self._answer(conn, place)
            return
        self._stop_waiting(conn)
        conn.crowd = place
        conn.hand_over()
        super().enqueue_req(conn)

    def finish_request(self, conn: Connection, future: Future[Any]) -> None:
        if conn.crowd is not None:
            conn.crowd.leave()
            conn.crowd = None
        super().finish_request(conn, future)

    def handle_request(self, req: Any, conn: Connection) -> Any:
        if isinstance(conn.parser.unreader, Arrived):
            conn.parser.unreader.deadline = time.monotonic() + BODY_SECONDS
            req.body.arrived = conn.parser.unreader
        if conn.is_large:
            # What nobody has read of it is not worth waiting for.
            req.force_close()
        return super().handle_request(req, conn)

    def _keepalive_after(self, conn: Connection, keepalive: bool) -> bool:
        arrived = conn.parser.unreader
        if isinstance(arrived, Arrived):
            arrived.deadline = arrived.silence = 0.0
            return bool(super()._keepalive_after(conn, keepalive)) and not arrived.is_cut_off
        return bool(super()._keepalive_after(conn, keepalive))

    def murder_pending(self) -> None:
        """gunicorn calls this after each look for news, and at least every second."""
        super().murder_pending()
        if self.is_full:
            self.is_full = False
            self._make_room()
        now = time.monotonic()
        for conn in [one for one in self.arriving if one.deadline <= now]:
            if conn.arrived:
                self._refuse(conn, "408 Request Timeout", "The request did not arrive in time.")
            else:
                self._drop(conn)
        for conn in [one for one in self.lingering if one.deadline <= now]:
            self._drop(conn)
        if not self.alive:
            for conn in [one for one in self.arriving if not one.arrived]:
                self._drop(conn)

    def _make_room(self) -> None:
        """Close the connection that has waited longest for something to arrive."""
        oldest = [next(iter(some)) for some in (self.arriving, self.lingering) if some]
        conn = min(oldest, key=lambda one: one.since, default=None)
        idle = self.keepalived_conns[0] if self.keepalived_conns else None
        if idle and (conn is None or idle.timeout - self.cfg.keepalive < conn.since):
            idle.timeout = 0.0
            self.murder_keepalived()
        elif conn is not None:
            self._drop(conn)

    def linger(self, conn: Connection) -> None:
        """Close it once the client has, or soon. gunicorn's loop would wait for that."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
            self._listen_to(conn, self.on_rest)
        except (OSError, ValueError):
            util.close(conn.sock)
            return
        self.nr_conns += 1
        conn.since = time.monotonic()
        conn.deadline = conn.since + LINGER_SECONDS
        self.lingering[conn] = None

    def on_rest(self, conn: Connection) -> None:
        if self._read(conn) == b"":
            self._drop(conn)

    def _listen_to(self, conn: Connection, act: Callable[[Connection], None]) -> None:
        self.poller.register(conn.sock, selectors.EVENT_READ, lambda _sock: act(conn))

    def _read(self, conn: Connection) -> bytes | None:
        """What has come; None if nothing has yet, nothing if no more will come."""
        try:
            data: bytes = conn.sock.recv(_BLOCK)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""
        return data

    def _refuse(self, conn: Connection, status: str, sentence: str) -> None:
        content = f"{sentence}\n".encode()
        self._answer(conn, whole_answer(content, "text/plain; charset=utf-8", status=status))

    def _answer(self, conn: Connection, data: bytes) -> None:
        """Without a thread."""
        conn.send(data)
        self._stop_waiting(conn)
        self.nr_conns -= 1
        self.linger(conn)

    def _stop_waiting(self, conn: Connection) -> None:
        self.arriving.pop(conn, None)
        self.lingering.pop(conn, None)
        try:
            self.poller.unregister(conn.sock)
        except (OSError, KeyError, ValueError):
            return

    def _drop(self, conn: Connection) -> None:
        self._stop_waiting(conn)
        self.nr_conns -= 1
        util.close(conn.sock)
