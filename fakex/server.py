"""The HTTP side: one handler without router or middleware, for requests to X and to /_fake/."""

from __future__ import annotations

import asyncio
import signal
import ssl
import time
from email.utils import formatdate

from aiohttp import web

from fakex.account.callers import Caller
from fakex.control.routes import Control
from fakex.endpoints import LOOKUP, TOKEN, TWEETS, Request, find_endpoint
from fakex.faults.script import HANGING_UP, NONE, SPOILT, Faults, Rule
from fakex.log import Entry
from fakex.streams.connections import Ending, Opening
from fakex.streams.sending import send
from fakex.wire import problems
from fakex.wire.consent import PATH as CONSENT
from fakex.wire.readers import Wish
from fakex.wire.replies import Reply, headers_of, problem, to_response
from fakex.wire.requests_v2 import MOST_IDS, Invalid, LookupAsk
from fakex.world.clock import real_ms
from fakex.world.seeded import World
from fakex.x import X

_LONGEST_LINE = 1 << 17
# At shutdown pending replies get this long, twice; 0 would mean waiting without limit.
_PATIENCE_S = 0.1
_FAKE_NOW = "X-Fake-Now"
_FAKE_NOW_REFUSED = {
    "title": "Invalid Request",
    "detail": f"{_FAKE_NOW} is epoch milliseconds, and PUT /_fake/clock must allow_fake_now first",
    "status": 400,
}


class Server:
    def __init__(self, x: X) -> None:
        self._x, self._control = x, Control(x)

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        target = http.raw_path
        path, _, query = target.partition("?")
        if path.startswith("/_fake/"):
            return await self._control.handle(http, path, query)
        if await self._x.idleness.takes(http.transport):
            return web.Response()
        try:
            return await self._ask(http, target, path, query)
        finally:
            self._x.idleness.rests(http.transport)

    async def _ask(
        self, http: web.BaseRequest, target: str, path: str, query: str
    ) -> web.StreamResponse:
        if path == CONSENT and http.method == "GET":
            # From a browser, not an API request: it has neither a caller nor a window.
            answer = self._x.credentials.grants.consents.show(query, now_ms=self._x.now_ms())
            headers = {"Location": answer.location} if answer.location else {}
            return web.Response(
                status=answer.status, text=answer.html, content_type="text/html", headers=headers
            )
        endpoint = find_endpoint(http.method, path)
        if endpoint is None:
            return self._refuse(problem(404, problems.NOT_FOUND))
        request = Request(
            method=http.method,
            endpoint=endpoint[0],
            target=target,
            query=query,
            authorization=http.headers.get("Authorization"),
            form=await http.text() if http.method in ("POST", "DELETE") else "",
            subject=endpoint[1],
            origin=f"{http.scheme}://{http.host}",
        )
        fake_now = http.headers.get(_FAKE_NOW)
        if fake_now is None:
            return await self._answer(http, request, fake_ms=None)
        if not (self._x.settings.allow_fake_now and fake_now.isascii() and fake_now.isdigit()):
            return self._refuse(problem(400, _FAKE_NOW_REFUSED))
        return await self._answer(http, request, fake_ms=int(fake_now))

    async def _answer(
        self, http: web.BaseRequest, request: Request, *, fake_ms: int | None
    ) -> web.StreamResponse:
        x, began = self._x, time.monotonic()
        caller = x.caller(request, now_ms=x.now_ms() if fake_ms is None else fake_ms)
        ask, faults = x.read(request), NONE
        if isinstance(caller, Caller):
            faults = x.script.strike(request.endpoint, ask.ids, caller.name, now_ms=real_ms())
        before_s, after_s = self._delays_s(request.endpoint, faults.reply)
        if before_s:
            await asyncio.sleep(before_s)
        at_ms = x.now_ms() if fake_ms is None else fake_ms
        if isinstance(caller, Caller):
            reply = x.answer(request, ask, caller, faults=faults, now_ms=at_ms)
        else:
            reply = caller
        world = x.world
        if after_s:
            await asyncio.sleep(after_s)
        sending = faults.reply.kind if faults.reply and reply.refused_for is None else ""
        if sending in SPOILT:
            reply.answered, reply.tweets, reply.shown = False, 0, ()
        if sending in HANGING_UP:
            reply.status = 0
        done_ms = x.now_ms() if fake_ms is None else at_ms + round(after_s * 1000)
        self._note(
            request,
            ask,
            caller,
            reply=reply,
            faults=faults,
            at_ms=at_ms,
            done_ms=done_ms,
            world=world,
        )
        if sending in HANGING_UP:
            if isinstance(reply, Opening):
                x.streams.close(reply.connection)
            return _hang_up(http)
        if fake_ms is not None or world.clock.ahead_ms:
            _date(reply, done_ms)
        if sending == "no_date":
            reply.headers = {**reply.headers, "date": ""}
        if isinstance(reply, Opening):
            if sending == "truncated":
                reply.connection.end(Ending(is_abrupt=True, is_half=True))
            return await self._open(http, reply)
        took_ms = int((time.monotonic() - began) * 1000)
        if sending == "truncated":
            return await _send_half(http, reply)
        if sending == "bad_chunk":
            return await _send_bad_chunk(http, reply)
        zipped = x.settings.gzip and "gzip" in http.headers.get("Accept-Encoding", "")
        return to_response(reply, took_ms=took_ms, zipped=zipped)

    async def _open(self, http: web.BaseRequest, reply: Opening) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, headers=headers_of(reply, took_ms=0))
        await send(http, response, reply.connection, self._x.streams)
        return response

    def _refuse(self, reply: Reply) -> web.Response:
        """Refuse what does not count as a request to X, and is therefore not logged."""
        if self._x.world.clock.ahead_ms:
            _date(reply, self._x.now_ms())
        return to_response(reply, took_ms=0, zipped=False)

    def _delays_s(self, endpoint: str, rule: Rule | None) -> tuple[float, float]:
        """How long to wait before and after the answer is computed.

        Half the delay comes before, so the answer is from the middle of the wait. But new tokens
        are created at once, so a client that does not wait for them has already lost the old ones.
        """
        settings = self._x.settings
        slow_ms = float(rule.params.get("ms", 1000)) if rule and rule.kind == "slow" else 0.0
        delay_s = (settings.latency_ms + slow_ms) / 1000
        if endpoint == TOKEN:
            return 0.0, delay_s + settings.token_latency_ms / 1000
        return delay_s / 2, delay_s / 2

    def _note(
        self,
        request: Request,
        ask: Wish | Invalid,
        caller: Caller | Reply,
        *,
        reply: Reply,
        faults: Faults,
        at_ms: int,
        done_ms: int,
        world: World,
    ) -> None:
        """Add the request to the totals and the log, before its reply is sent."""
        log = self._x.log
        log.totals.requests[request.endpoint, reply.status] += 1
        log.totals.tweets_answered += reply.tweets
        if request.endpoint in (TWEETS, LOOKUP) and ask.ids:
            log.totals.note_ids(len(ask.ids), over=len(ask.ids) > MOST_IDS)
        log.add(
            Entry(
                at_ms=at_ms,
                done_ms=done_ms,
                endpoint=request.endpoint,
                token=caller.name if isinstance(caller, Caller) else "-",
                project=caller.project if isinstance(caller, Caller) else "-",
                status=reply.status,
                fault=faults.name or reply.fault,
                ids=",".join(ask.ids),
                world=world,
                answered=reply.answered,
                faulted=reply.faulted,
                remaining=reply.budget.remaining if reply.budget else None,
                bill=reply.bill,
                refused_for=reply.refused_for,
                query="" if ask.ids else request.target,
                shown=reply.shown,
                fields=ask.shape.fields if isinstance(ask, LookupAsk) else frozenset(),
            )
        )


def _date(reply: Reply, at_ms: int) -> None:
    """Set the Date to when the reply left, if X's clock is not this server's."""
    reply.headers = {**reply.headers, "date": formatdate(at_ms / 1000, usegmt=True)}


def _hang_up(http: web.BaseRequest) -> web.Response:
    """Close the connection; the returned response is never sent."""
    if http.transport:
        http.transport.abort()
    return web.Response()


async def _send_half(http: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    """Promise the whole body, send half of it and close."""
    response = web.StreamResponse(status=reply.status)
    response.content_length = len(reply.body)
    response.headers.update({"content-type": reply.content_type, **reply.headers})
    response.force_close()
    await response.prepare(http)
    await response.write(reply.body[: len(reply.body) // 2])
    if http.transport:
        http.transport.close()
    return response


async def _send_bad_chunk(http: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    """Send half of the body, then a chunk of negative size, and close."""
    response = web.StreamResponse(status=reply.status)
    response.headers.update({"content-type": reply.content_type, **reply.headers})
    response.enable_chunked_encoding()
    response.force_close()
    await response.prepare(http)
    await response.write(reply.body[: len(reply.body) // 2])
    if http.transport:
        http.transport.write(b"-5\r\n\r\n")
        http.transport.close()
    return response


async def serve(x: X, *, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
    """Listen until SIGTERM or SIGINT; prints the address on stdout once it does."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    server = web.Server(Server(x).handle, max_line_size=_LONGEST_LINE, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=_PATIENCE_S)
    await runner.setup()
    site = web.TCPSite(runner, host, port, ssl_context=tls)
    await site.start()
    shown = f"[{host}]" if ":" in host else host
    scheme = "https" if tls else "http"
    print(f"fake X listening on {scheme}://{shown}:{runner.addresses[0][1]}", flush=True)
    await stop.wait()
    await runner.cleanup()
