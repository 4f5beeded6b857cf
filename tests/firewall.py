"""A port whose SYNs are dropped, as behind a firewall: who connects hears nothing at all."""

import socket
from contextlib import suppress
from itertools import count

# The kernel answers on loopback at once, or not at all.
NO_ANSWER_SECONDS = 0.1
# One connection is made and never accepted: the queue is full.
MOST_CALLERS = 8


class DroppingPort:
    """Linux drops the SYN of a connection for which the listener's queue has no room."""

    def __init__(self, port=0):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(0)
        self.port = self.listener.getsockname()[1]
        self.callers = []
        with suppress(TimeoutError):
            for number in count():
                assert number < MOST_CALLERS, "the kernel drops no SYN"
                self.callers.append(self._call())

    def _call(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=NO_ANSWER_SECONDS)

    def close(self):
        for one in (*self.callers, self.listener):
            one.close()
