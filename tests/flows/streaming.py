"""`manage.py stream` as a process of its own, the sources it listens for, and X's truth of it."""

import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import requests
from psycopg.types.json import Jsonb

from tests.conftest import PROJECT
from tests.flows.conftest import BEARER
from trackers.ingest.sources.models import Source
from trackers.ingest.stream.lease import MAKE, STREAM_NAME
from trackers.ingest.stream.marks import Mark

RULES = "/2/tweets/search/stream/rules"
FREE = {"token": None, "app": None, "project": None, "window": 900}
STREAMING = (
    "GET /2/tweets/search/stream",
    "GET /2/tweets/search/stream/rules",
    "POST /2/tweets/search/stream/rules",
)
AT_ONCE = {"usual_ms": 20, "late_share": 0, "very_late_share": 0}
FAR = 10**15


def row_of(rule, late_by):
    """A source's columns as the admin would fill them."""
    source = Source(
        kind="stream", of=rule, late_by=late_by, pages=500, created_at=datetime.now(UTC)
    )
    columns = {one.column: getattr(source, one.attname) for one in Source._meta.concrete_fields}
    return {
        name: Jsonb(value) if isinstance(value, dict) else value
        for name, value in columns.items()
        if name != "id"
    }


class Streaming:
    """A product whose stream is fast: small margins, no limits of X's. The silence that ends a
    connection is longer than a busy machine keeps keep-alives waiting; tests of it have their own.
    """

    def __init__(self, product):
        self.product, self.x, self.started = product, product.x, []
        self.product.environment |= {
            "STREAM_SILENCE": "15",
            "STREAM_LATE_BY": "1",
            "STREAM_ACTS_AFTER": "1",
        }
        self.x.put("limits", dict.fromkeys(STREAMING, FREE))
        self.x.put("stream", {"rule_delay_s": 0, "keepalive_s": 0.3})

    def source(self, rule, late_by=timedelta(seconds=1)):
        row = row_of(rule, late_by)
        columns, places = ", ".join(row), ", ".join(["%s"] * len(row))
        insert = f"INSERT INTO trackers_source ({columns}) VALUES ({places}) RETURNING id"
        return self.product.value(insert, *row.values())

    def mark(self):
        """Of this installation, in the tags of its rules."""
        with self.product.database.cursor() as cursor:
            cursor.execute(MAKE, {"name": STREAM_NAME})
        self.product.sql("UPDATE trackers_stream SET mark = '0123abcd' WHERE mark = ''")
        return Mark(self.product.value("SELECT mark FROM trackers_stream"))

    def start(self, wait=True, **environment):
        path = self.product.logs / f"stream{len(self.started)}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "stream"],
                cwd=PROJECT,
                env=self.product.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        process.log = path
        self.started.append(process)
        return process

    def row(self):
        names = "state, because, pid, lines, duplicates, garbled, connects, stored_until"
        found = self.product.sql(f"SELECT {names} FROM trackers_stream")
        return dict(zip(names.split(", "), found[0], strict=True)) if found else {"state": None}

    def is_open(self):
        return self.row()["state"] == "open"

    def release(self, **flow):
        known = self.x.get("authors")["authors"]
        authors = [author["id"] for author in known if author["steady"]][:5]
        given = {"authors": authors, "rate": 200, "tags": ["moon"], "tagged": 1, "lag": AT_ONCE}
        return self.x.tell("POST", "posts", {**given, **flow})

    def visible(self, **which):
        return {int(post["id"]) for post in self.x.get("visible?" + urlencode(which))["posts"]}

    def is_shown(self, id):
        """Whether X shows the post now."""
        return isinstance(self.x.get(f"tweets/{id}")["answer"], dict | list)

    def stored(self, source):
        rows = self.product.sql(
            "SELECT tweet_id FROM trackers_sourcetweet WHERE source_id = %s", source
        )
        return {id for (id,) in rows}

    def sent(self):
        return self.x.get("stream")["sent"]

    def gaps(self, source):
        return self.product.sql(
            "SELECT from_id, to_id FROM trackers_gap WHERE source_id = %s AND closed_at IS NULL",
            source,
        )

    def missing(self, source, ids):
        """Those that are neither stored nor inside of an open gap."""
        gaps = self.gaps(source)
        return {
            id
            for id in ids - self.stored(source)
            if not any(from_id < id < to_id for from_id, to_id in gaps)
        }

    def rules(self):
        return self.ask("GET").get("data", [])

    def ask(self, method, **body):
        reply = requests.request(
            method,
            self.x.url + RULES,
            json=body or None,
            headers={"Authorization": f"Bearer {BEARER}"},
            timeout=10,
        )
        reply.raise_for_status()
        return reply.json()

    def log_text(self):
        return "".join(process.log.read_text() for process in self.started)

    def end(self):
        for process in self.started:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
            process.wait(10)
