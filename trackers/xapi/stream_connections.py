"""What X counts as open connections of the app to the filtered stream, and ending one of them.

By OpenAPI 2.167 (2026-08-22); before it, X named no ids. Bearer tokens only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from trackers.xapi.endpoints import CONNECTIONS, END_CONNECTIONS
from trackers.xapi.errors import Garbage
from trackers.xapi.keys import Keys
from trackers.xapi.parse.fields import json_type_name, read_object
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.session import CANONICAL
from trackers.xapi.wire.x_client import client_for

_ADDRESS = CANONICAL + "/2/connections"
_ASKED = {
    "status": "active",
    "endpoints": "filtered_stream",
    "max_results": "100",
    "connection.fields": "connected_at,endpoint_name,id",
}
_LONGEST_ID = 100


@dataclass(frozen=True, slots=True)
class CountedConnection:
    """One that X counts as open."""

    id: str
    since: datetime


@dataclass(frozen=True, slots=True)
class CountedConnections:
    """Those that X named with an id and a time."""

    connections: tuple[CountedConnection, ...]
    window: WindowSeen | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How many connections X ended."""

    count: int
    window: WindowSeen | None


def counted_connections(keys: Keys, *, base_url: str, timeout: timedelta) -> CountedConnections:
    """The open connections of the credential's app; raises XError and nothing else."""
    client = client_for(keys, base_url, timeout)
    return client.ask(
        CONNECTIONS[keys.api],
        lambda: client.session.get(_ADDRESS, params=_ASKED),
        _read_connections,
        (),
    )


def end_connection(keys: Keys, id: str, *, base_url: str, timeout: timedelta) -> Ended:
    """End one of them; as `counted_connections`."""
    client = client_for(keys, base_url, timeout)
    return client.ask(
        END_CONNECTIONS[keys.api],
        lambda: client.session.request("DELETE", _ADDRESS, json={"uuids": [id]}),
        _read_ended,
        (),
    )


def _read_connections(
    body: bytes, _: Sequence[int], /, *, window: WindowSeen | None
) -> CountedConnections:
    data = read_object(body).get("data", [])
    if type(data) is not list:
        raise Garbage(f"X's connections are {json_type_name(data)} instead of a list.")
    read = (_read_connection(one) for one in data)
    return CountedConnections(tuple(one for one in read if one), window)


def _read_connection(item: Any) -> CountedConnection | None:
    if type(item) is not dict or item.get("endpoint_name") != "filtered_stream":
        return None
    id, since = item.get("id"), _time_of(item.get("connected_at"))
    if type(id) is not str or not 0 < len(id) <= _LONGEST_ID or since is None:
        return None
    return CountedConnection(id, since)


def _time_of(text: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _read_ended(body: bytes, _: Sequence[int], /, *, window: WindowSeen | None) -> Ended:
    data = read_object(body).get("data")
    count = data.get("successful_kills") if type(data) is dict else None
    return Ended(count if type(count) is int and count > 0 else 0, window)
