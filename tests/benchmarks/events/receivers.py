"""The receivers, as the parts of the bench speak with them."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any, Self

PATIENCE = 120


class Receivers:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._file = self._socket.makefile("rw")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def _ask(self, do: str, **given: Any) -> Any:
        self._file.write(json.dumps([do, given]) + "\n")
        self._file.flush()
        return json.loads(self._file.readline())

    def listen(self, many: int) -> list[str]:
        """The addresses of so many more."""
        return [f"http://127.0.0.1:{port}/hook" for port in self._ask("listen", many=many)]

    def hang(self, numbers: Sequence[int]) -> None:
        """These, by their places in the order in which they listened, and no others."""
        self._ask("hang", numbers=list(numbers))

    def time(self, on: bool) -> None:
        self._ask("time", on=on)

    def lags(self) -> list[tuple[int, float]]:
        """Of each event since they were timed: its receiver, and milliseconds from `t` to there."""
        return [(place, lag) for place, lag in self._ask("lags")]

    def events(self) -> list[int]:
        """How many came to each."""
        return list(self._ask("tell")["events"])
