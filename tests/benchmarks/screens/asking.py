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
    server: http.client.HTTPConnection,
    page_request: Asked,
    entered: Mapping[str, Any],
    *,
    is_counted: bool,
) -> None:
    answer = answered(server, page_request, entered)
    if answer.status not in ANSWERS:
        raise RuntimeError(f"{page_request.path} answers {answer.status}: {answer.read(500)!r}")
    if page_request.kind == "file":
        # The rest of a million tweets is not waited for.
        size = len(answer.read1(1 << 16))
        server.close()
    else:
        size = len(answer.read())
    if page_request.kind == "poll":
        # As morph.js asks.
        again = {
            **dict(headers(page_request, entered)),
            "If-None-Match": answer.headers.get("ETag", ""),
        }
        server.request("GET", page_request.path, headers=again)
        page_request.idle.append(len(server.getresponse().read()))
    if is_counted:
        took = dict(TOOK.findall(answer.headers["Server-Timing"]))
        page_request.total.append(float(took["total"]))
        page_request.sql.append(float(took["sql"]))
        page_request.python.append(float(took["python"]))
        page_request.statements.append(round(float(took["statements"])))
        page_request.bytes.append(size)


def answered(
    server: http.client.HTTPConnection, page_request: Asked, entered: Mapping[str, Any]
) -> http.client.HTTPResponse:
    """Only a few files are sent at a time: the one that was broken off last may still count."""
    for _ in range(100):
        server.request("GET", page_request.path, headers=dict(headers(page_request, entered)))
        answer = server.getresponse()
        if answer.status != BUSY:
            break
        answer.read()
        time.sleep(0.2)
    return answer


def headers(page_request: Asked, entered: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if page_request.path == "/metrics":
        yield "Authorization", f"Bearer {METRICS_KEY}"
    elif page_request.kind == "api" or page_request.path.startswith("/api/"):
        yield "Authorization", f"Bearer {entered['token']}"
    else:
        yield "Cookie", "=".join(entered["cookie"])
    if page_request.kind == "poll":
        yield "HX-Request", "true"
