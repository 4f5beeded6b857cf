"""Receivers of deliveries, a port each: all of them keep books of what came, most of them fail.

Does what it is told by lines of JSON, and answers each with one. The first line is
`{"name": {"manner": …, "key": …, "ordered": …}, …}`, which is answered with their ports.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import socket
import struct
import sys
from collections import Counter
from contextlib import suppress

import uvloop
from standardwebhooks import Webhook, WebhookVerificationError

# Of the deliveries to one that fails; after `heal` none.
SHARE = 0.3
# Longer than a delivery may take.
HANGS, DROP_EVERY = 30.0, 0.3
ASKS_FOR = 1
AT_ONCE = struct.pack("ii", 1, 0)
ANSWERS = {
    "fails": "500 Internal Server Error\r\n",
    "waits": f"503 Service Unavailable\r\nRetry-After: {ASKS_FOR}\r\n",
    "gone": "410 Gone\r\n",
    "picky": "422 Unprocessable Content\r\n",
    "good": "200 OK\r\n",
}


class Receiver:
    """`batches`: by webhook-id, the body's digest, its events, and whether it was answered well.
    `events`: what was read of those; `late`: how many are older than what came before of a tweet.
    `refused`: the tweet that one who is picky never takes, the first that it sees.
    """

    def __init__(self, *, manner, key, ordered):
        self.manner, self.ordered, self.is_gone = manner, ordered, False
        self.webhook, self.chance = Webhook(key), random.Random(manner)
        self.batches, self.events, self.newest = {}, set(), {}
        self.did, self.faults, self.refused = Counter(), Counter(), None

    async def serve(self, reader, writer):
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self.take(*await read(reader), reader, writer):
                pass
        writer.close()

    async def take(self, line, headers, body, reader, writer):
        """One delivery; whether the connection is used for another."""
        uid = headers.get("webhook-id", "")
        accepted = self.answer_to(json.loads(body))
        self.did[accepted] += 1
        self.look_at(uid, line, headers, body)
        match accepted:
            case "hangs":
                # Until the other side gives up.
                await asyncio.wait_for(reader.read(1), HANGS)
                return False
            case "drips":
                for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"." * 100:
                    writer.write(bytes([letter]))
                    await writer.drain()
                    await asyncio.sleep(DROP_EVERY)
                return False
            case "resets":
                link = writer.get_extra_info("socket")
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                writer.transport.abort()
                return False
        if accepted == "good":
            self.accept(uid, body)
        writer.write(f"HTTP/1.1 {ANSWERS[accepted]}Content-Length: 0\r\n\r\n".encode())
        await writer.drain()
        return True

    def answer_to(self, events):
        """A key of `ANSWERS`, or how it fails to answer."""
        if self.is_gone:
            return "gone"
        if self.manner == "picky":
            tweets = {tweet_of(event) for event in events}
            self.refused = self.refused or min(tweets)
            return "picky" if self.refused in tweets else "good"
        fails = self.manner != "leaves" and self.chance.random() < SHARE
        return self.manner if fails else "good"

    def look_at(self, uid, line, headers, body):
        digest = hashlib.sha1(body).hexdigest()
        known = self.batches.setdefault(uid, [digest, len(json.loads(body)), False])
        if known[0] != digest:
            self.faults["another body for the same webhook-id"] += 1
        if line != "POST /hook HTTP/1.1" or headers.get("content-type") != "application/json":
            self.faults["no POST of JSON"] += 1
        try:
            self.webhook.verify(body, headers)
        except WebhookVerificationError:
            self.faults["a signature that is not right"] += 1

    def accept(self, uid, body):
        self.batches[uid][2] = True
        for event in json.loads(body):
            key = key_of(event)
            if key in self.events:
                continue
            self.events.add(key)
            if event["topic"] == "tweets":
                if self.ordered and event["t"] < self.newest.get(event["url"], 0):
                    self.faults["an older event after a newer one"] += 1
                self.newest[event["url"]] = event["t"]

    def report(self):
        return {
            "accepted": {uid: size for uid, (_, size, good) in self.batches.items() if good},
            "events": sorted(self.events),
            "did": self.did,
            "faults": self.faults,
        }


def key_of(event):
    """As `subscribers.TOLD` has it: of one tweet no two changes have the same `t`."""
    tweet = tweet_of(event)
    if event["topic"] == "milestones":
        return f"milestones {tweet} {event['data']['metric']} {event['data']['at']}"
    return f"{event['topic']} {tweet} {event['t']}"


def tweet_of(event):
    return event["url"].rpartition("/")[2]


async def read(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in lines)}
    return line, headers, await reader.readexactly(int(headers["content-length"]))


async def main():
    loop, lines = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    receivers = {name: Receiver(**how) for name, how in json.loads(await lines.readline()).items()}
    servers = [await asyncio.start_server(one.serve, "127.0.0.1", 0) for one in receivers.values()]
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    say(dict(zip(receivers, ports, strict=True)))
    while line := await lines.readline():
        do = json.loads(line)["do"]
        for receiver in receivers.values():
            if do == "leave":
                receiver.is_gone = receiver.manner == "leaves"
            elif do == "heal" and not receiver.is_gone:
                receiver.manner = "good"
        say({name: one.report() for name, one in receivers.items()} if do == "tell" else {})


def say(what):
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
