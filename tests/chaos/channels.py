"""Channels beside the subscribers: one is well, the others are down, slow, or ask to wait.

rows of two rules, one loud and one quiet ─> `manage.py deliver`, twice ─> a service with books

What must have arrived is told apart from the product: by the rows, and by what the service took.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

from tests.chaos.ground import wait_until
from tests.chaos.messaged import CHANNELS, DOWN, LOUD, QUIET, SLOW, THROTTLED, Came, Messaged, Told

# A process may hear the answer earlier than this one has noted it.
TELL_EVERY, ASKS_FOR, MARGIN = 1.0, 2, 0.05
# Longer than a message may take.
HANGS = 3.0
SENT_WITHIN = 30.0

TELL = """
    WITH made AS MATERIALIZED (
        SELECT nextval(pg_get_serial_sequence('trackers_channelmessage', 'id')) AS id,
               c.id AS channel, rule, lines, more
        FROM trackers_channel c CROSS JOIN (VALUES (%s, 10, 5), (%s, 1, 0)) AS r (rule, lines, more)
    )
    INSERT INTO trackers_channelmessage (id, channel_id, title, lines, more, is_test, state, error)
    SELECT id, channel, rule, (
        SELECT jsonb_agg(jsonb_build_object(
            'what', format('alert %%s', n), 'url', format('/chaos/%%s/', made.id), 'rule', rule,
            'is_over', false))
        FROM generate_series(1, lines) n), more, false, 'waiting', ''
    FROM made
"""
# A minute is a whole run, so who has failed is tried again much sooner than the product would.
# What a service asks for is shorter.
HASTEN = """
    UPDATE trackers_channel SET next_at = now() + make_interval(secs => %s)
    WHERE next_at > now() + make_interval(secs => %s) RETURNING id
"""
WAITING = "SELECT count(*) FROM trackers_channelmessage WHERE state = 'waiting'"
TOLD = """
    SELECT c.name, m.title, (m.lines -> 0 ->> 'url'), jsonb_array_length(m.lines) + m.more,
           extract(epoch FROM m.sent_at)::float8
    FROM trackers_channelmessage m JOIN trackers_channel c ON c.id = m.channel_id
"""
_ROW = re.compile(r"/chaos/(\d+)/\|")
_MORE = re.compile(r"And ([\d,]+) more")


def add_all(base):
    """By `manage.py shell`."""
    from trackers.channels.models import Channel

    for name in CHANNELS:
        Channel.objects.create(name=name, kind="slack", address={"url": f"{base}/{name}"})


class Service(ThreadingHTTPServer):
    """A Slack with a channel for each way to fail, until `heal`."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answering)
        self.lock, self.is_healed = threading.Lock(), threading.Event()
        self.came = {name: [] for name in CHANNELS}
        self.did = {name: Counter() for name in CHANNELS}
        self.faults, self.held, self.asked_again_from = Counter(), 0, 0.0

    def manner(self, name):
        """What it does now: a name of a channel that fails, or "good"."""
        with self.lock:
            if name == THROTTLED and time.monotonic() < self.asked_again_from - MARGIN:
                self.faults["asked again before Retry-After had passed"] += 1
            # Of those that ask to wait every second one is taken.
            fails = name in (SLOW, DOWN) or (name == THROTTLED and self.did[name].total() % 2 == 0)
            manner = name if fails and not self.is_healed.is_set() else "good"
            self.did[name][manner] += 1
            return manner

    def accept(self, name, text):
        lines = text.count("\n• ")
        more = _MORE.search(text)
        alerts = lines + (int(more[1].replace(",", "")) if more else 0)
        with self.lock:
            self.came[name].append(Came(frozenset(map(int, _ROW.findall(text))), alerts))


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        service, name = self.server, self.path.strip("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        match manner := service.manner(name):
            case "slow":
                with service.lock:
                    service.held += 1
                service.is_healed.wait(HANGS)
                with service.lock:
                    service.held -= 1
            case "down":
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)
            case "throttled":
                with service.lock:
                    service.asked_again_from = time.monotonic() + ASKS_FOR
                self.answer(429, {"Retry-After": str(ASKS_FOR)})
        if manner == "good":
            service.accept(name, body["text"])
            self.answer(200, {})
        else:
            self.close_connection = True

    def answer(self, status, headers):
        self.send_response(status)
        for header, value in {**headers, "Content-Length": "2"}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Channels:
    """Starts the service, tells its channels what two rules find, and keeps the books of both."""

    def __init__(self, ground, *, seconds):
        self.ground, self.seconds = ground, seconds
        self.service = Service()
        self.thread = threading.Thread(target=self.service.serve_forever, daemon=True)

    def add(self):
        self.thread.start()
        program = "import sys; from tests.chaos import channels; channels.add_all(sys.stdin.read())"
        base = f"http://127.0.0.1:{self.service.server_port}"
        self.ground.manage("shell", "-v", "0", "-c", program, stdin=base)

    def is_sending(self):
        """Whether somebody waits for an answer in this moment."""
        with self.service.lock:
            return self.service.held > 0

    def go_on(self, over):
        """What two rules find meanwhile, as often as the database takes it."""
        end = time.monotonic() + self.seconds
        while time.monotonic() < end and not over.wait(TELL_EVERY):
            with suppress(psycopg.Error), self.ground.postgres.connect() as db:
                db.execute(TELL, (LOUD, QUIET))
                db.execute(HASTEN, [self.ground.pace.lease] * 2)

    def heal(self):
        """From now on all are well."""
        self.service.is_healed.set()
        self.is_sent()

    def is_sent(self):
        """Whether all is; what is not is tried soon."""
        self.ground.postgres.rows(HASTEN, HANGS, HANGS)
        return not self.ground.postgres.value(WAITING)

    def stop(self):
        """What they had, once all is sent. What is left after that time is told by the book."""
        with suppress(TimeoutError):
            wait_until(self.is_sent, within=SENT_WITHIN, what="all messages are sent")
        rows_told = [
            Told(name, rule, int(url.strip("/").rpartition("/")[2]), alerts, sent)
            for name, rule, url, alerts, sent in self.ground.postgres.rows(TOLD)
        ]
        service = self.service
        with service.lock:
            return Messaged(
                rows_told, dict(service.came), dict(service.did), Counter(service.faults)
            )

    def end(self):
        self.service.is_healed.set()
        if self.thread.is_alive():
            self.service.shutdown()
        self.service.server_close()
