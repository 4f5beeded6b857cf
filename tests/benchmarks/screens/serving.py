"""The product's application as gunicorn serves it; each answer says in a header what it took.

Server-Timing: total;dur=12.3, sql;dur=4.5, python;dur=7.2, statements;dur=6
`python` is processor time, which others on the machine do not change. All are up to the first bytes
of the body, which for all but files is up to the last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.benchmarks.screens.clock import clock
from tweetwatch.wsgi import application as product


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    clock.reset()
    begun, busy = time.perf_counter(), time.thread_time()
    kept: list[Any] = []

    def keep(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        kept[:] = [status, headers, exc_info]

    body = product(environ, keep)
    pieces = iter(body)
    first = next(pieces, b"")
    status, headers, exc_info = kept
    took = {
        "total": 1000 * (time.perf_counter() - begun),
        "sql": 1000 * clock.spent,
        "python": 1000 * (time.thread_time() - busy),
        "statements": clock.statements,
    }
    told = ", ".join(f"{name};dur={value:.3f}" for name, value in took.items())
    start_response(status, [*headers, ("Server-Timing", told)], exc_info)
    return Rest(first, pieces, body)


class Rest:
    """The body whose first piece was taken already."""

    def __init__(self, first: bytes, pieces: Iterator[bytes], body: Any) -> None:
        self.first, self.pieces, self.body = first, pieces, body

    def __iter__(self) -> Iterator[bytes]:
        yield self.first
        yield from self.pieces

    def close(self) -> None:
        if hasattr(self.body, "close"):
            self.body.close()
