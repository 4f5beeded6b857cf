"""The /_fake/stream routes: its settings, and incidents for those connected to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, get_args

from fakex.control.acts import Act, Body, Params
from fakex.streams.connections import Connection, Ending, Line
from fakex.streams.delivery import Farewells, StreamSettings, disconnection
from fakex.streams.rules import Refuses, StreamRules
from fakex.x import X

_STREAM_SETTINGS = {name: type(value) for name, value in asdict(StreamSettings()).items()}


class StreamControl:
    def __init__(self, x: X) -> None:
        self._x, self._streams = x, x.streams
        self.acts: dict[tuple[str, str], Act] = {
            ("GET", "stream"): self._show,
            ("PUT", "stream"): self._set,
            ("POST", "stream"): self._do,
            ("DELETE", "stream"): self._clear,
        }
        self._deeds: dict[str, Callable[[Body], None]] = {
            "cut": self._cut,
            "close": self._close,
            "stall": self._stall,
            "resume": self._resume,
            "garble": self._garble,
            "disconnect": self._disconnect,
            "lose_rules": self._lose_rules,
            "send": self._send,
        }

    def _show(self, _rest: str, query: Params, _body: Body) -> Any:
        """The state, and the lines sent with a number above `since`."""
        streams, since = self._streams, int(query.get("since", 0))
        sent = [line.to_dict() for line in streams.sent if line.seq > since]
        return {**self._state(), "next": sent[-1]["seq"] if sent else since, "sent": sent}

    def _state(self) -> dict[str, Any]:
        streams = self._streams
        return {
            **asdict(streams.settings),
            "rule_delay_s": streams.rules.delay_s,
            "rule_refusals": streams.rules.refuses,
            "most_rules": streams.rules.most,
            "garbled_next": streams.garbled_next,
            "farewells_next": streams.farewells.next,
            "open": [connection.to_dict() for connection in streams.connections.values()],
        }

    def _set(self, _rest: str, _query: Params, body: Body) -> Any:
        """Any of `StreamSettings`, rule_delay_s, most_rules, and rule_refusals, which says what a
        bad rule costs the others in its request: each, all or whole."""
        changed, rules = dict(body), self._streams.rules
        delay_s = float(changed.pop("rule_delay_s", rules.delay_s))
        most = int(changed.pop("most_rules", rules.most))
        refuses = changed.pop("rule_refusals", rules.refuses)
        if refuses not in get_args(Refuses):
            raise ValueError(f"rule_refusals is one of {', '.join(get_args(Refuses))}")
        if unknown := changed.keys() - _STREAM_SETTINGS.keys():
            raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
        changes = {name: _STREAM_SETTINGS[name](value) for name, value in changed.items()}
        if delay_s < 0 or most < 0 or any(value < 0 for value in changes.values()):
            raise ValueError("all are 0 or more")
        self._streams.settings = replace(self._streams.settings, **changes)
        rules.delay_s, rules.most, rules.refuses = delay_s, most, refuses
        return self._state()

    def _do(self, rest: str, _query: Params, body: Body) -> Any:
        """An incident on all connections: /_fake/stream/cut and the like."""
        touched = len(self._open())
        self._deeds[rest](body)
        return {"connections": touched}

    def _clear(self, _rest: str, _query: Params, _body: Body) -> Any:
        """Back to the default settings, without rules or connections."""
        streams = self._streams
        for connection in list(streams.connections.values()):
            connection.end(Ending(is_abrupt=True))
        streams.connections.clear()
        streams.settings, streams.garbled_next = StreamSettings(), 0
        streams.farewells = Farewells()
        streams.rules = StreamRules()
        streams.sent.clear()
        return self._state()

    def _open(self) -> list[Connection]:
        return [c for c in self._streams.connections.values() if c.ending is None]

    def _cut(self, body: Body) -> None:
        """Reset the connections; in the middle of a line with {"half": true}."""
        for connection in self._open():
            connection.end(Ending(is_abrupt=True, is_half=bool(body.get("half"))))

    def _close(self, _body: Body) -> None:
        for connection in self._open():
            connection.end(Ending())

    def _stall(self, body: Body) -> None:
        """Send nothing, not even keep-alives, for {"s": ...} seconds or until resumed."""
        stalled = self._open()
        for connection in stalled:
            connection.stalled = True
        if body.get("s") is not None:
            loop = asyncio.get_running_loop()
            loop.call_later(float(body["s"]), _resume_all, stalled)

    def _resume(self, _body: Body) -> None:
        _resume_all(self._open())

    def _garble(self, body: Body) -> None:
        """Garble the next {"lines": 1} lines."""
        self._streams.garbled_next += int(body.get("lines", 1))

    def _disconnect(self, body: Body) -> None:
        """Send {"type": "UpstreamOperationalDisconnect"}, or another, and close; with {"next": 3}
        do the same to the next three connections as they open."""
        kind = str(body.get("type", "UpstreamOperationalDisconnect"))
        self._streams.farewells = Farewells(int(body.get("next", 0)), kind)
        for connection in self._open():
            connection.end(disconnection(kind, self._x.settings.problem_host))

    def _send(self, body: Body) -> None:
        """Send {"lines": [...]}, as they are, each with an end of line of its own."""
        for connection in self._open():
            for text in body["lines"]:
                connection.put(Line(0, (), f"{text}\r\n".encode()))

    def _lose_rules(self, body: Body) -> None:
        """Somebody deletes rules elsewhere: all of them, or {"values": [...]}."""
        self._streams.rules.lose(body.get("values", ()), now_ms=self._x.now_ms())


def _resume_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.stalled = False
        connection.woken.set()
