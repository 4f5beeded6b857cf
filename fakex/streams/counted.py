"""`/2/connections`: the connections that X counts for an app, and ending some of them.

By OpenAPI 2.167 (2026-08-22): an app's own alone, with bearer tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import orjson

from fakex.streams.connections import Connection
from fakex.streams.delivery import Streams
from fakex.wire import problems
from fakex.wire.replies import Reply, problem

_MOST_UUIDS = 100


def listed(connections: Sequence[Connection]) -> Reply:
    data = [
        {
            "id": _uuid(connection),
            "endpoint_name": "filtered_stream",
            "connected_at": _time_text(connection.opened_ms),
            "client_ip": "127.0.0.1",
        }
        for connection in connections
    ]
    body = {"data": data} if data else {}
    return Reply(200, orjson.dumps({**body, "meta": {"result_count": len(data)}}))


def end(streams: Streams, app: str, body: str, *, host: str) -> Reply:
    try:
        uuids = orjson.loads(body)["uuids"]
        is_good = isinstance(uuids, list) and 1 <= len(uuids) <= _MOST_UUIDS
    except (ValueError, KeyError, TypeError):
        is_good = False
    if not is_good:
        message = f"The body is not uuids, a list of 1 to {_MOST_UUIDS}"
        return problem(400, problems.invalid_request([("uuids", [], message)], host))
    known = {_uuid(connection): connection for connection in streams.of(app)}
    results = []
    for uuid in uuids:
        connection = known.get(uuid)
        if connection:
            streams.end(connection)
        failure = {} if connection else {"error_message": "Connection not found"}
        results.append({"uuid": uuid, "success": connection is not None, **failure})
    ended = sum(result["success"] for result in results)
    counts = {"successful_kills": ended, "failed_kills": len(results) - ended}
    return Reply(200, orjson.dumps({"data": {**counts, "results": results}}))


def _uuid(connection: Connection) -> str:
    return str(UUID(int=connection.number))


def _time_text(ms: int) -> str:
    time = datetime.fromtimestamp(ms / 1000, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
