"""Ask the served product for each address, again and again, over HTTP; what its answers say."""

from __future__ import annotations

import http.client
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from urllib.parse import urlsplit

METRICS_KEY = "a-key-of-the-bench"
TOOK = re.compile(r"(\w+);dur=([\d.]+)")
# As it is; what has not changed since; and a list of the admin that always has one row.
ANSWERS = (200, 304, 302)
BUSY = 503


@dataclass
class Asked:
    """An address, and what each answer took up to its first bytes: milliseconds in the server,
    those of SQL and those of the processor; how many statements; how many bytes came, of a file
    the first ones.
    """

    name: str
    kind: str
    path: str
    total: list[float] = field(default_factory=list)
    sql: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    # Of a poll that was asked again at once, with nothing new.
    idle: list[int] = field(default_factory=list)

    def p95(self, of: Sequence[float]) -> float:
        return sorted(of)[math.ceil(0.95 * len(of)) - 1]

    def row(self) -> dict[str, str | float | int | None]:
        return {
            "address": self.name,
            "kind": self.kind,
            "p50": median(self.total),
            "p95": self.p95(self.total),
            "SQL p50": median(self.sql),
            "SQL p95": self.p95(self.sql),
            "Python p50": median(self.python),
            "statements": max(self.statements),
            "bytes": max(self.bytes),
            "idle": max(self.idle, default=None),
        }


def ask_all(base: str, entered: Mapping[str, Any], *, rounds: int, chosen: str = "") -> list[Asked]:
    """Round after round, so that a busy minute of the machine does not fall on one address alone.
    The first round, which prepares statements and fills caches, is not counted."""
    asked = [Asked(*row) for row in entered["addresses"] if re.search(chosen, row[0])]
    with closing(http.client.HTTPConnection(urlsplit(base).netloc, timeout=120)) as server:
        for number in range(rounds + 1):
            for one in asked:
                ask(server, one, entered, is_counted=number > 0)
    return asked


def ask(
    server: http.client.HTTPConnection, one: Asked, entered: Mapping[str, Any], *, is_counted: bool
) -> None:
    answer = answered(server, one, entered)
    if answer.status not in ANSWERS:
        raise RuntimeError(f"{one.path} answers {answer.status}: {answer.read(500)!r}")
    if one.kind == "file":
        # The rest of a million tweets is not waited for.
        size = len(answer.read1(1 << 16))
        server.close()
    else:
        size = len(answer.read())
    if one.kind == "poll":
        # As morph.js asks.
        again = {**dict(headers(one, entered)), "If-None-Match": answer.headers.get("ETag", "")}
        server.request("GET", one.path, headers=again)
        one.idle.append(len(server.getresponse().read()))
    if is_counted:
        took = dict(TOOK.findall(answer.headers["Server-Timing"]))
        one.total.append(float(took["total"]))
        one.sql.append(float(took["sql"]))
        one.python.append(float(took["python"]))
        one.statements.append(round(float(took["statements"])))
        one.bytes.append(size)


def answered(
    server: http.client.HTTPConnection, one: Asked, entered: Mapping[str, Any]
) -> http.client.HTTPResponse:
    """Only a few files are sent at a time: the one that was broken off last may still count."""
    for _ in range(100):
        server.request("GET", one.path, headers=dict(headers(one, entered)))
        answer = server.getresponse()
        if answer.status != BUSY:
            break
        answer.read()
        time.sleep(0.2)
    return answer


def headers(one: Asked, entered: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if one.path == "/metrics":
        yield "Authorization", f"Bearer {METRICS_KEY}"
    elif one.kind == "api" or one.path.startswith("/api/"):
        yield "Authorization", f"Bearer {entered['token']}"
    else:
        yield "Cookie", "=".join(entered["cookie"])
    if one.kind == "poll":
        yield "HX-Request", "true"
