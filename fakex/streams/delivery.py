"""The filtered stream: who is connected, and which line goes to whom when a post appears.

feeds ─> posts that appear ─> rules of each connection's app ─> its lines ─> the socket
What appears while no client listens is not kept, as on pay-per-use.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import orjson

from fakex.account.callers import Caller
from fakex.account.ledger import Ledger
from fakex.streams.connections import Connection, Ending, How, Line, Sent
from fakex.streams.rules import StreamRules
from fakex.wire import problems
from fakex.wire.requests_v2 import Shape
from fakex.wire.tweets_v2 import TweetWriter
from fakex.world.feeds import Feeds, Post, is_shown
from fakex.world.ids import mix
from fakex.world.seeded import World

_TICK_S = 0.005
_MOST_KEPT = 200_000


@dataclass(slots=True)
class StreamSettings:
    """Shares are of all lines."""

    keepalive_s: float = 20.0
    connections: int = 1
    linger_s: float = 0.0  # how long a connection still counts after it is gone
    duplicates: float = 0.0
    disorder: float = 0.0  # share of lines that come late
    disorder_ms: int = 2_000  # by how much
    # A connection with more unread lines is told that it reads too slowly, and closed.
    most_waiting: int = 20_000


@dataclass(slots=True)
class Farewells:
    """How many of the next connections are closed as they open, and with which type."""

    next: int = 0
    kind: str = ""


class Streams:
    def __init__(
        self,
        *,
        world: Callable[[], World],
        feeds: Feeds,
        ledger: Ledger,
        writer: Callable[[Shape], TweetWriter],
        host: Callable[[], str],
    ) -> None:
        self._world, self._feeds, self._ledger = world, feeds, ledger
        self._writer, self._host = writer, host
        self.settings, self.rules = StreamSettings(), StreamRules()
        self.connections: dict[int, Connection] = {}
        self.garbled_next = 0
        self.farewells = Farewells()
        self.sent: deque[Sent] = deque(maxlen=_MOST_KEPT)
        self._numbers, self._seqs = count(1), count(1)
        self._pump: asyncio.Task[None] | None = None
        self._listed: list[Post] = []
        self._read = 0
        self._awaited: list[tuple[int, int, Post]] = []

    def has_room(self, app: str) -> bool:
        return len(self.of(app)) < self.settings.connections

    def of(self, app: str) -> list[Connection]:
        """The connections that count for the app, dead ones too until X notices."""
        return [one for one in self.connections.values() if one.caller.app == app]

    def end(self, connection: Connection) -> None:
        """On request: it counts no more."""
        connection.end(disconnection("ForceDisconnect", self._host()))
        self.connections.pop(connection.number, None)

    def open(self, caller: Caller, shape: Shape, *, now_ms: int) -> Connection:
        """A new connection, which gets what appears from now on."""
        connection = Connection(next(self._numbers), caller, shape, now_ms)
        self.connections[connection.number] = connection
        if self.farewells.next:
            self.farewells.next -= 1
            connection.end(disconnection(self.farewells.kind, self._host()))
        if self._pump is None or self._pump.done():
            self._listed, self._awaited = [], []
            self._pump = asyncio.get_running_loop().create_task(self._deliver_all())
        return connection

    def close(self, connection: Connection) -> None:
        """Forget a connection, at once or when X notices; its waiting lines are lost."""
        for line in connection.waiting:
            self.note(connection, line, "lost")
        connection.waiting.clear()
        connection.ending = connection.ending or Ending()
        linger_s = self.settings.linger_s
        if linger_s:
            loop = asyncio.get_running_loop()
            loop.call_later(linger_s, self.connections.pop, connection.number, None)
        else:
            self.connections.pop(connection.number, None)

    def note(self, connection: Connection, line: Line, how: How) -> None:
        now_ms = self._world().clock.now_ms()
        self.sent.append(
            Sent(next(self._seqs), now_ms, connection.number, line.post_id, line.rules, how)
        )

    async def _deliver_all(self) -> None:
        """Deliver what appears, as long as a client listens."""
        while self.connections:
            world = self._world()
            now_ms = world.clock.now_ms()
            for post in self._appeared(world, now_ms):
                self._deliver(post, world, now_ms)
            await asyncio.sleep(_TICK_S)

    def _appeared(self, world: World, now_ms: int) -> Iterator[Post]:
        """Posts that appeared since the last call or shortly before it, in that order."""
        listed = self._feeds.all(world, now_ms=now_ms)
        if listed is not self._listed:
            self._listed, self._read, self._awaited = listed, 0, []
        earliest = min(connection.opened_ms for connection in self.connections.values())
        for post in islice(listed, self._read, None):
            if post.visible_ms >= earliest:
                heapq.heappush(self._awaited, (self._due_ms(post), post.id, post))
        self._read = len(listed)
        while self._awaited and self._awaited[0][0] <= now_ms:
            yield heapq.heappop(self._awaited)[2]

    def _due_ms(self, post: Post) -> int:
        late = _draw(post.id, 1) < self.settings.disorder
        return post.visible_ms + (self.settings.disorder_ms if late else 0)

    def _deliver(self, post: Post, world: World, now_ms: int) -> None:
        moment = world.moment(now_ms)
        if not is_shown(post, world, moment):
            return
        for connection in self.connections.values():
            if connection.ending or post.visible_ms < connection.opened_ms:
                continue
            rules = self._matching(connection.caller.app, post, world)
            if not rules:
                continue
            body, _ = self._writer(connection.shape).write(
                [str(post.id)],
                world=world,
                moment=moment,
                host=self._host(),
                faulted={},
            )
            self._hand(connection, post, rules, orjson.loads(body), now_ms)

    def _hand(
        self,
        connection: Connection,
        post: Post,
        rules: list[dict[str, str]],
        body: dict[str, Any],
        now_ms: int,
    ) -> None:
        bill = self._ledger.charge(connection.caller, posts=[post.id], now_ms=now_ms)
        if isinstance(bill, str):
            connection.end(disconnection("OperationalDisconnect", self._host()))
            return
        event = {"data": body.pop("data")[0], **body, "matching_rules": rules}
        line = Line(post.id, tuple(r["id"] for r in rules), orjson.dumps(event) + b"\r\n")
        connection.put(line)
        if _draw(post.id, 2) < self.settings.duplicates:
            connection.put(Line(line.post_id, line.rules, line.text, "twice"))
        if len(connection.waiting) > self.settings.most_waiting:
            connection.end(disconnection("SlowReader", self._host()))

    def _matching(self, app: str, post: Post, world: World) -> list[dict[str, str]]:
        words = self._feeds.words(post, world)
        return [
            {"id": rule.id} if rule.tag is None else {"id": rule.id, "tag": rule.tag}
            for rule in self.rules.acting(app, post.visible_ms)
            if self.rules.query(rule, world).match(words)
        ]


def disconnection(kind: str, host: str) -> Ending:
    return Ending(orjson.dumps(problems.disconnected(kind, host)) + b"\r\n")


def _draw(post_id: int, purpose: int) -> float:
    return (mix(post_id + purpose) & 0xFFFFFF) / (1 << 24)
