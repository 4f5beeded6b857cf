"""A proxy that opens tunnels (CONNECT), as companies have them; or says what it is told to."""

import base64
import socket
import threading
from contextlib import suppress

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
NEEDS_NAME = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class ConnectProxy:
    """`ways`: the address that stands behind each host:port. `wants`: user and password, if any.

    `says`: bytes with which each is answered instead. `asked`: who was wanted, in order.
    """

    def __init__(self, ways):
        self.ways, self.wants, self.says, self.asked = ways, None, None, []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[near], daemon=True).start()

    def _serve(self, near):
        with near, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                more = near.recv(65536)
                if not more:
                    return
                head += more
            first, *headers = head.decode("latin-1").split("\r\n")
            method, wanted, _ = first.split(" ")
            assert method == "CONNECT"
            self.asked.append(wanted)
            if self.says is not None:
                near.sendall(self.says)
                return
            if self.wants and not self._is_named(headers):
                near.sendall(NEEDS_NAME)
                return
            with socket.create_connection(self.ways[wanted], timeout=10) as far:
                far.settimeout(None)
                near.sendall(ESTABLISHED)
                threading.Thread(target=carry, args=[far, near], daemon=True).start()
                carry(near, far)

    def _is_named(self, headers):
        token = base64.b64encode(":".join(self.wants).encode()).decode()
        return f"Proxy-Authorization: Basic {token}" in headers


def carry(source, to):
    with suppress(OSError):
        while data := source.recv(65536):
            to.sendall(data)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)
