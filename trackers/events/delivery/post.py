"""One delivery: a POST, and its outcome; or any other call to an address that a person gave.

Delivery ─> Sender.deliver ─> Outcome
Call ─> Sender.call ─> Answer
The status line decides: any 2xx is delivered, whatever happens to the rest of the answer, for which
it waits a second. One deadline covers everything from the look-up of the name to the last byte
read, so that a subscriber that trickles bytes is given no more time than a silent one.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import ssl
import time
import traceback
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from types import SimpleNamespace, TracebackType
from typing import Any, Self, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from trackers.events.delivery.addresses import RefusedError, fault_of
from trackers.events.delivery.call import READ_BYTES, Answer, Call, retry_after
from trackers.events.delivery.egress import (
    Egress,
    Resolver,
    open_socket,
    trusting,
)
from trackers.events.delivery.load import Delivery
from trackers.events.delivery.settle import MOST_ANSWER, Outcome
from trackers.events.subscribers.headers import is_ours

logger = logging.getLogger(__name__)

# How long to wait for the rest of an answer, once its status is known.
_REST_SECONDS = 1.0
# How long an idle connection is kept, for subscribers that get one batch after another. Many
# servers close one after two idle seconds, and a batch sent at that moment fails.
_KEPT_SECONDS = 1.0


@dataclass(slots=True)
class DeliveryProgress:
    connected: bool = False  # from now on the subscriber may have received it


class Protocol(ResponseHandler):
    """Also reads the status line by itself.

    aiohttp gives no answer at all where something behind it is not as it should be: a byte beyond
    the Content-Length, a 204 with a body, a header that is too long.
    """

    answer: Answer | None = None

    def data_received(self, data: bytes) -> None:
        if self.answer is not None:
            self.answer.read_status(data)
        super().data_received(data)


class Connector(aiohttp.TCPConnector):
    """Reuses connections, except those that received something while idle.

    Otherwise bytes beyond an answer's Content-Length would be read as the answer to the next batch.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        # Each connection's protocol is made by this.
        self._factory = cast("partial[ResponseHandler]", partial(Protocol, loop=self._loop))

    async def connect(self, *given: Any, **named: Any) -> Connection:
        made = await super().connect(*given, **named)
        if isinstance(made.protocol, Protocol):
            made.protocol.answer = _awaited_answer.get()
        return made

    async def _get(self, *given: Any) -> Connection | None:
        while (kept := await super()._get(*given)) is not None:
            if kept.protocol is None or not kept.protocol.should_close:
                return kept
            kept.close()
        return None


@dataclass(slots=True)
class Sender:
    """To be used with `async with`, within which its connections live."""

    egress: Egress
    connect: timedelta
    total: timedelta
    _session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        allowed = self.egress.allowed
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_create_end.append(_is_connected)
        tracing.on_connection_reuseconn.append(_is_connected)
        tracing.freeze()
        self._session = aiohttp.ClientSession(
            connector=Connector(
                limit=0,
                keepalive_timeout=_KEPT_SECONDS,
                use_dns_cache=False,
                resolver=Resolver(allowed),
                socket_factory=partial(open_socket, allowed=allowed),
                ssl=trusting(self.egress.ca_file),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, connect=self.connect.total_seconds(), ceil_threshold=float("inf")
            ),
            trust_env=False,
            auto_decompress=False,
            read_bufsize=READ_BYTES,
            trace_configs=[tracing],
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def deliver(
        self, delivery: Delivery, progress: DeliveryProgress | None = None
    ) -> Outcome:
        """Send it. Raises nothing, except when it is cancelled."""
        headers = _headers_of(delivery, now=time.time())
        call = Call(
            "POST", delivery.callback, headers, delivery.body, of=f"batch {delivery.batch.uid}"
        )
        answer = await self.call(call, progress)
        return Outcome(
            delivery.batch,
            delivered=answer.is_yes,
            took=answer.took,
            status=answer.status,
            error=answer.error,
            answer=answer.text.decode(errors="replace"),
            retry_after=None
            if answer.is_yes
            else retry_after(answer.retry_after, now=datetime.now(UTC)),
        )

    async def call(self, call: Call, progress: DeliveryProgress | None = None) -> Answer:
        """Make one request, within the deadline. Raises nothing, except when it is cancelled."""
        began = time.monotonic()
        answer = Answer()
        _awaited_answer.set(answer)
        error = ""
        try:
            if error := fault_of(call.url, plain_http=self.egress.plain_http):
                raise RefusedError(error)
            async with asyncio.timeout(self.total.total_seconds()):
                await self._request(call, answer, progress or DeliveryProgress())
        except Exception as failure:
            # An error after the status line does not change the outcome.
            answer.status = answer.status or answer.status_read
            error = "" if answer.status else self._describe_failure(failure, call)
        answer.took = timedelta(seconds=time.monotonic() - began)
        answer.error = error or ("" if answer.is_yes else status_sentence(answer.status))
        return answer

    async def _request(self, call: Call, answer: Answer, progress: DeliveryProgress) -> None:
        assert self._session is not None
        response = await self._session.request(
            call.method,
            call.url,
            data=call.body,
            headers=call.headers,
            allow_redirects=False,
            trace_request_ctx=progress,
        )
        try:
            answer.status = response.status
            answer.retry_after = response.headers.get("Retry-After", "")
            async with asyncio.timeout(_REST_SECONDS):
                while len(answer.text) < MOST_ANSWER:
                    read = await response.content.read(MOST_ANSWER - len(answer.text))
                    if not read:
                        break
                    answer.text += read
        finally:
            response.close()

    def _describe_failure(self, failure: Exception, call: Call) -> str:
        """A sentence for people who wonder why nothing arrives; it has no part of the address."""
        match failure:
            case RefusedError():
                return str(failure)
            case aiohttp.ClientConnectorDNSError():
                return "The name of its host cannot be looked up."
            case aiohttp.ClientConnectorCertificateError():
                return f"Its certificate is not accepted: {_why_not(failure.certificate_error)}."
            case aiohttp.ClientSSLError():
                return "The TLS handshake with it failed."
            case aiohttp.ConnectionTimeoutError():
                return f"There was no connection within {self.connect.total_seconds():g} s."
            case TimeoutError():
                return f"There was no answer within {self.total.total_seconds():g} s."
            case aiohttp.ClientConnectorError():
                return f"No connection to it: {failure.os_error.strerror or 'no route'}."
            case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
                return "It closed the connection without an answer."
            case aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
                return "Its answer is not HTTP."
            case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
                return "Its address cannot be used."
            case _:
                # Without the exception's own words, which may have a secret address.
                where = "".join(traceback.format_tb(failure.__traceback__))
                logger.error("%s could not be sent: %s\n%s", call.of, type(failure).__name__, where)
                return f"It could not be sent ({type(failure).__name__})."


# The answer of the delivery that this task makes.
_awaited_answer: ContextVar[Answer | None] = ContextVar("awaited answer", default=None)


async def _is_connected(_session: Any, context: SimpleNamespace, _given: Any) -> None:
    context.trace_request_ctx.connected = True


def _headers_of(delivery: Delivery, *, now: float) -> dict[str, str]:
    # JSON that people entered: headers by name, and a list of signing secrets.
    own: Any = delivery.secrets.get("headers") or {}
    signing: Any = delivery.secrets.get("signing") or ()
    headers = {name: value for name, value in own.items() if not is_ours(name)}
    headers |= {
        "Content-Type": delivery.content_type,
        "User-Agent": "tweetwatch",
        "Accept-Encoding": "identity",
    }
    if uuid := delivery.secrets.get("uuid"):
        headers = {name: text for name, text in headers.items() if name.lower() != "authorization"}
        headers["Authorization"] = "Basic " + base64.b64encode(f"{uuid}:x".encode()).decode()
    return headers | signed(str(delivery.batch.uid), delivery.body, signing, at=int(now))


def status_sentence(status: int | None) -> str:
    if status is None:
        return ""
    known = {one.value: one.phrase for one in HTTPStatus}
    sentence = f"It answered {status} {known.get(status, '')}".rstrip()
    return f"{sentence}, and redirects are not followed." if 300 <= status < 400 else f"{sentence}."


def _why_not(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return "it does not match the name"


# Signatures as in Standard Webhooks 1.0 (https://www.standardwebhooks.com), one with each valid
# secret: HMAC-SHA256 over `id.timestamp.body`, with the body byte by byte as it is sent. The id is
# the same for all attempts; the time is that of the attempt.
_PREFIX = "whsec_"


def signed(id: str, body: bytes, signing: Iterable[str], *, at: int) -> dict[str, str]:
    """The headers that identify the delivery and sign it; `at`: seconds since 1970."""
    content = f"{id}.{at}.".encode() + body
    headers = {"webhook-id": id, "webhook-timestamp": str(at)}
    if signatures := [_signature(secret, content) for secret in signing]:
        headers["webhook-signature"] = " ".join(signatures)
    return headers


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
