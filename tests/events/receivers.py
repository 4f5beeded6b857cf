"""Receivers of deliveries: real servers on loopback, each with a manner of its own."""

import socket
import ssl
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

# A reset instead of a polite end.
AT_ONCE = struct.pack("ii", 1, 0)
# Longer than any test waits.
FOREVER = 60


@dataclass
class Got:
    """A request, byte by byte."""

    line: str
    headers: dict
    body: bytes
    # As it was sent, the last of a name only.
    raw: bytes = field(repr=False)


def read_request(conn):
    head = b""
    while b"\r\n\r\n" not in head:
        read = conn.recv(65536)
        if not read:
            return None
        head += read
    head, _, body = head.partition(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += conn.recv(65536)
    return Got(line, headers, body, head)


class Receiver:
    """`manner(conn, receiver)` is how it treats a connection, in a thread of its own."""

    def __init__(self, manner, *, certificate=None, port=0):
        self.manner, self.got, self.connections = manner, [], 0
        self.closing = threading.Event()
        self.scheme = "https" if certificate else "http"
        self._tls = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return self.at("127.0.0.1")

    def at(self, host):
        return f"{self.scheme}://{host}:{self.port}/hook"

    def _accept(self):
        with suppress(OSError):
            while True:
                conn, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn):
        with suppress(OSError), conn:
            conn.settimeout(FOREVER)
            if self._tls:
                conn = self._tls.wrap_socket(conn, server_side=True)
            with conn:
                self.manner(conn, self)

    def read(self, conn):
        got = read_request(conn)
        if got is not None:
            self.got.append(got)
        return got

    def close(self):
        self.closing.set()
        with suppress(OSError):
            # Wakes the thread that accepts.
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def answers(status="200 OK", *, headers="", body=b""):
    def manner(conn, receiver):
        receiver.read(conn)
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        conn.sendall(head.encode() + body)

    return manner


def says(text):
    """These bytes, and then the end."""

    def manner(conn, receiver):
        receiver.read(conn)
        conn.sendall(text)

    return manner


def says_before_reading(text):
    def manner(conn, receiver):
        conn.sendall(text)
        receiver.read(conn)

    return manner


def hangs(conn, receiver):
    receiver.read(conn)
    receiver.closing.wait(FOREVER)


def drips(first, drop, *, every=0.02):
    """A beginning, and then a few bytes now and then, for ever."""

    def manner(conn, receiver):
        receiver.read(conn)
        conn.sendall(first)
        while not receiver.closing.is_set():
            conn.sendall(drop)
            time.sleep(every)

    return manner


def resets(conn, receiver):
    receiver.read(conn)
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)


def leaves(conn, receiver):
    receiver.read(conn)
