"""Receivers on sockets of their own, in one process: `python -m tests.benchmarks.events.receiving`.

They answer at once, or never, and count. Whoever connects to the control port tells them what to
do by lines of JSON, and gets a line for each.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import orjson
import uvloop

ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
END = b"\r\n\r\n"
FILES = 20_000


class Counts:
    """`events`: of each receiver, those that it answered for, a batch that came again once.
    `lags`: receivers and milliseconds from `t` to here, while they are `timed`."""

    def __init__(self) -> None:
        self.events: list[int] = []
        self.seen: set[bytes] = set()
        self.hanging: set[int] = set()
        self.posts, self.timed = 0, False
        self.lags: list[tuple[int, float]] = []

    def answers(self, number: int, uid: bytes, body: bytes) -> bool:
        if number in self.hanging:
            return False
        self.posts += 1
        if uid not in self.seen:
            if uid:
                self.seen.add(uid)
            self.events[number] += body.count(b'"t":')
            if self.timed:
                now = 1000 * time.time()
                self.lags += [(number, now - event["t"]) for event in orjson.loads(body)]
        return True


class Connection(asyncio.Protocol):
    def __init__(self, number: int, counts: Counts) -> None:
        self.number, self.counts, self.read = number, counts, b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.read += data
        while (end := self.read.find(END)) >= 0:
            head = self.read[: end + len(END)].lower()
            whole = len(head) + int(value(head, b"content-length"))
            if len(self.read) < whole:
                return
            body, self.read = self.read[len(head) : whole], self.read[whole:]
            if self.counts.answers(self.number, value(head, b"webhook-id"), body):
                self.transport.write(ANSWER)


def value(head: bytes, name: bytes) -> bytes:
    _, _, rest = head.partition(b"\r\n" + name + b": ")
    return rest[: rest.find(b"\r\n")] if rest else b""


class Control:
    def __init__(self) -> None:
        self.counts = Counts()
        self.acts: dict[str, Callable[..., Any]] = {
            "hang": self.hang,
            "time": self.time,
            "tell": self.tell,
            "lags": lambda: self.counts.lags,
        }

    async def listen(self, many: int) -> list[int]:
        """So many receivers more; the ports of these."""
        loop, ports = asyncio.get_running_loop(), []
        for _ in range(many):
            number = len(self.counts.events)
            self.counts.events.append(0)
            server = await loop.create_server(
                lambda number=number: Connection(number, self.counts), "127.0.0.1", 0
            )
            ports.append(server.sockets[0].getsockname()[1])
        return ports

    def hang(self, numbers: list[int]) -> None:
        self.counts.hanging = set(numbers)

    def time(self, on: bool) -> None:
        self.counts.timed, self.counts.lags = on, []

    def tell(self) -> dict[str, Any]:
        return {"events": self.counts.events, "posts": self.counts.posts}

    async def obey(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            do, given = json.loads(line)
            done = await self.listen(**given) if do == "listen" else self.acts[do](**given)
            writer.write(json.dumps(done).encode() + b"\n")
            await writer.drain()


async def main(port: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, hard) if hard > 0 else FILES, hard))
    server = await asyncio.start_server(Control().obey, "127.0.0.1", port, limit=1 << 20)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
