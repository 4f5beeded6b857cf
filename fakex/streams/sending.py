"""Sending one stream: chunked, a line at a time, with `\\r\\n` when there is nothing to send."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web

from fakex.streams.connections import Connection, Line
from fakex.streams.delivery import Streams

_KEEPALIVE = b"\r\n"
# How soon a lost client is noticed while there is nothing to send.
_NOTICE_S = 0.05


async def send(
    http: web.BaseRequest, response: web.StreamResponse, connection: Connection, streams: Streams
) -> None:
    """Send lines until either side ends it; forgets the connection in any case."""
    response.enable_chunked_encoding()
    try:
        await response.prepare(http)
        await _send_all(http, response, connection, streams)
        await _end(http, response, connection)
    except ConnectionError:
        return  # the client is gone
    finally:
        streams.close(connection)


async def _send_all(
    http: web.BaseRequest, response: web.StreamResponse, connection: Connection, streams: Streams
) -> None:
    quiet_since = time.monotonic()
    while connection.ending is None and http.transport and not http.transport.is_closing():
        if connection.stalled or not connection.waiting:
            await _doze(connection)
        if connection.stalled or connection.ending:
            continue
        if connection.waiting:
            line = connection.waiting.popleft()
            await _write(response, connection, line, streams)
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since >= streams.settings.keepalive_s:
            await response.write(_KEEPALIVE)
            quiet_since = time.monotonic()


async def _doze(connection: Connection) -> None:
    """Wait briefly for something to happen."""
    connection.woken.clear()
    try:
        await asyncio.wait_for(connection.woken.wait(), _NOTICE_S)
    except TimeoutError:
        return


async def _write(
    response: web.StreamResponse, connection: Connection, line: Line, streams: Streams
) -> None:
    how, text = line.how, line.text
    if streams.garbled_next > 0:
        streams.garbled_next -= 1
        how, text = "garbled", _garble(text)
    # Logged before it is sent, so that a client that has read a line finds it in the log.
    streams.note(connection, line, how)
    connection.lines += 1
    await response.write(text)


async def _end(http: web.BaseRequest, response: web.StreamResponse, connection: Connection) -> None:
    ending = connection.ending
    if ending is None or http.transport is None:
        return
    last = ending.last
    if ending.is_half:
        last = connection.waiting[0].text if connection.waiting else b'{"data":{"id":"1"}}\r\n'
        last = last[: len(last) // 2]
    if last:
        await response.write(last)
    if ending.is_abrupt:
        http.transport.abort()
    else:
        await response.write_eof()


def _garble(text: bytes) -> bytes:
    """Half a line with bytes that are not text; still one line."""
    return text[: len(text) // 2].rstrip(b"\r\n") + b"\xff\xfe\r\n"
