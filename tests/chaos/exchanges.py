"""What one host asked of X and got, read off its relay: the book that says who was answered."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

LOOKUP = b"GET /2/tweets?"


@dataclass(slots=True)
class Exchange:
    """One look-up of a host. Times are epoch seconds; `delivered_at` None: the reply never came
    whole, `status` 0: not even its first line. `lost_at`: the host hung up before it had it."""

    host: str
    ids: str
    asked_at: float
    status: int = 0
    delivered_at: float | None = None
    lost_at: float | None = None


class Watch:
    """One keep-alive connection of a host: requests up, replies down, one at a time."""

    def __init__(self, book, host):
        self.book, self.host = book, host
        self.request, self.reply, self.left, self.now = b"", b"", 0, None

    def up(self, data):
        self.request += data
        head, end, rest = self.request.partition(b"\r\n\r\n")
        if not end:
            return
        # What looks a tweet up has no body.
        self.request = rest if head.startswith(LOOKUP) else b""
        self.reply, self.left, self.now = b"", 0, None
        if head.startswith(LOOKUP):
            target = head.split(b" ", 2)[1].decode()
            ids = parse_qs(urlsplit(target).query).get("ids", [""])[0]
            self.now = Exchange(self.host, ids, time.time())
            self.book.note(self.now)

    def down(self, data):
        if self.now is None:
            return
        if self.left:
            self.count(len(data))
            return
        self.reply += data
        head, end, body = self.reply.partition(b"\r\n\r\n")
        if not end:
            return
        self.reply = b""
        self.now.status = int(head[9:12])
        sizes = [
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        ]
        self.left = sizes[0] if sizes else 0
        self.count(len(body))

    def count(self, bytes_come):
        self.left -= bytes_come
        if self.left <= 0:
            self.left = 0
            self.now.delivered_at = time.time()
            self.book.answered(self.now)
            self.now = None

    def lost(self):
        if self.now is not None:
            self.now.lost_at = time.time()
        self.now = None


class Exchanges:
    """All look-ups of all hosts, by the ids that were asked."""

    def __init__(self):
        self.by_ids = defaultdict(list)
        self.answers = defaultdict(list)

    def follower(self, host):
        return lambda: Watch(self, host)

    def note(self, exchange):
        self.by_ids[exchange.ids].append(exchange)

    def answered(self, exchange):
        if exchange.status == 200:
            self.answers[exchange.host].append(exchange)

    def first_answer(self, host, *, after):
        """When the host first had a whole answer to what it asked after that time; None: never."""
        # What was on its way may still come, to a host that is dead.
        return next((one.delivered_at for one in self.answers[host] if one.asked_at > after), None)

    def of(self, ids, *, at):
        """The exchange that X logged with these ids at that time; None: no host sent it."""
        asked = [one for one in self.by_ids[ids] if one.asked_at <= at + 0.005]
        return max(asked, key=lambda one: one.asked_at) if asked else None
