"""The HTTP side: one handler without router or middleware, for requests to X and to /_fake/."""

from __future__ import annotations

import asyncio
import signal
import time

from aiohttp import web

from trackers.fakex import problems
from trackers.fakex.auth import Caller
from trackers.fakex.clock import real_ms
from trackers.fakex.control import Control
from trackers.fakex.faults import NONE, Faults, Rule
from trackers.fakex.log import Entry
from trackers.fakex.replies import Reply, problem, to_response
from trackers.fakex.requests_v2 import MOST_IDS, Ask, Invalid
from trackers.fakex.wire_v1 import Lookup
from trackers.fakex.world import World
from trackers.fakex.x import LOOKUP, ROUTES, TWEETS, Request, X

LONGEST_LINE = 1 << 17


class Server:
    def __init__(self, x: X) -> None:
        self._x, self._control = x, Control(x)

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        target = http.raw_path
        path, _, query = target.partition("?")
        if path.startswith("/_fake/"):
            return await self._control.handle(http, path, query)
        endpoint = ROUTES.get((http.method, path))
        if endpoint is None:
            return to_response(problem(404, problems.NOT_FOUND), took_ms=0, zipped=False)
        request = Request(
            method=http.method,
            endpoint=endpoint,
            target=target,
            query=query,
            authorization=http.headers.get("Authorization"),
            form=await http.text() if http.method == "POST" else "",
        )
        return await self._answer(http, request)

    async def _answer(self, http: web.BaseRequest, request: Request) -> web.StreamResponse:
        x, began = self._x, time.monotonic()
        caller, ask = x.caller(request), x.read(request)
        faults = NONE
        if isinstance(caller, Caller):
            faults = x.script.strike(request.endpoint, ask.ids, caller.name, now_ms=real_ms())
        delay_s = _delay_s(x.settings.latency_ms, faults.reply)
        # The answer is of the middle of the wait: half the delay is the way there.
        if delay_s:
            await asyncio.sleep(delay_s / 2)
        at_ms = real_ms()
        if isinstance(caller, Caller):
            reply = x.answer(request, ask, caller, faults=faults, now_ms=at_ms)
        else:
            reply = caller
        world = x.world
        if delay_s:
            await asyncio.sleep(delay_s / 2)
        sending = faults.reply.kind if faults.reply else ""
        if sending in ("reset", "truncated"):
            reply.answered, reply.tweets = False, 0
        self._note(request, ask, caller, reply=reply, faults=faults, at_ms=at_ms, world=world)
        if sending == "reset":
            return _hang_up(http)
        took_ms = int((time.monotonic() - began) * 1000)
        if sending == "truncated":
            return await _send_half(http, reply)
        zipped = x.settings.gzip and "gzip" in http.headers.get("Accept-Encoding", "")
        return to_response(reply, took_ms=took_ms, zipped=zipped)

    def _note(
        self,
        request: Request,
        ask: Ask | Lookup | Invalid,
        caller: Caller | Reply,
        *,
        reply: Reply,
        faults: Faults,
        at_ms: int,
        world: World,
    ) -> None:
        """Write the request into totals and log, before its reply leaves."""
        log = self._x.log
        hung_up = faults.reply is not None and faults.reply.kind == "reset"
        status = 0 if hung_up else reply.status
        log.totals.requests[request.endpoint, status] += 1
        log.totals.tweets_answered += reply.tweets
        if request.endpoint in (TWEETS, LOOKUP) and ask.ids:
            log.totals.note_ids(len(ask.ids), over=len(ask.ids) > MOST_IDS)
        log.add(
            Entry(
                at_ms=at_ms,
                done_ms=real_ms(),
                endpoint=request.endpoint,
                token=caller.name if isinstance(caller, Caller) else "-",
                status=status,
                fault=faults.name,
                ids=",".join(ask.ids),
                world=world,
                answered=reply.answered,
                faulted=reply.faulted,
                remaining=reply.budget.remaining if reply.budget else None,
            )
        )


def _delay_s(latency_ms: float, rule: Rule | None) -> float:
    slow_ms = float(rule.params.get("ms", 1000)) if rule and rule.kind == "slow" else 0.0
    return (latency_ms + slow_ms) / 1000


def _hang_up(http: web.BaseRequest) -> web.Response:
    """Close the connection; what is returned finds nobody to go to."""
    if http.transport:
        http.transport.abort()
    return web.Response()


async def _send_half(http: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    """Promise the whole body, send half of it and close."""
    response = web.StreamResponse(status=reply.status)
    response.content_length = len(reply.body)
    response.headers["content-type"] = reply.content_type
    response.force_close()
    await response.prepare(http)
    await response.write(reply.body[: len(reply.body) // 2])
    if http.transport:
        http.transport.close()
    return response


async def serve(x: X, *, host: str, port: int) -> None:
    """Listen until SIGTERM or SIGINT; says on stdout where, once it does."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    server = web.Server(Server(x).handle, max_line_size=LONGEST_LINE, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    shown = f"[{host}]" if ":" in host else host
    print(f"fake X listening on http://{shown}:{runner.addresses[0][1]}", flush=True)
    await stop.wait()
    await runner.cleanup()
