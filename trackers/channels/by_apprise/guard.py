"""What keeps Apprise's requests to the rules of ours, in a process that does nothing else.

requests.Session.send: no proxies, no redirects, our certificates and deadlines; the answer is kept
urllib3's create_connection: looked up here, each address checked, and the very one connected to
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

import certifi
import requests
import urllib3.util.connection
from requests.adapters import HTTPAdapter

from trackers.events.delivery.addresses import RefusedError, fault_of, refusal

# How long to wait for the rest of an answer, once its status is known, and how much of it is read.
_REST_SECONDS = 1.0
_MAX_ANSWER = 64 * 1024
_READ_AT_ONCE = 1024


@dataclass(slots=True)
class Limits:
    """What may be called, and how long it may take."""

    allowed: tuple[str, ...]  # networks besides the public ones
    plain_http: bool
    ca_file: str  # certificates (PEM) to trust besides the public ones; may be empty
    connect: float
    total: float


@dataclass(slots=True)
class Heard:
    """The last answer, or why there is none."""

    status: int | None = None
    error: str = ""
    retry_after: str = ""
    text: bytes = b""


def keep_to(limits: Limits) -> Heard:
    """Replace what every request goes through. What is heard is filled in as it comes."""
    heard = Heard()
    allowed = [ip_network(one) for one in limits.allowed]
    send_before = requests.Session.send
    pools_before = HTTPAdapter.init_poolmanager
    trusted = ssl.create_default_context(cafile=certifi.where())
    if limits.ca_file:
        trusted.load_verify_locations(limits.ca_file)

    def init_pools(self: HTTPAdapter, *given: Any, **named: Any) -> None:
        pools_before(self, *given, **{**named, "ssl_context": trusted})

    def connect(
        address: tuple[str, int], *_given: Any, socket_options: Any = None, **_named: Any
    ) -> socket.socket:
        try:
            return _connected(address, allowed, limits.connect, socket_options)
        except RefusedError as refused:
            heard.error = str(refused)
            raise
        except socket.gaierror:
            heard.error = "The name of its host cannot be looked up."
            raise
        except TimeoutError:
            heard.error = f"There was no connection within {limits.connect:g} s."
            raise
        except OSError as failure:
            heard.error = f"No connection to it: {failure.strerror or 'no route'}."
            raise

    def send(self: requests.Session, request: Any, **how: Any) -> requests.Response:
        heard.status, heard.error, heard.retry_after, heard.text = None, "", "", b""
        if fault := fault_of(request.url, plain_http=limits.plain_http):
            heard.error = fault
            raise RefusedError(fault)
        ours = {
            "proxies": {}, "verify": True, "cert": None, "allow_redirects": False,
            "timeout": (limits.connect, limits.total), "stream": True,
        }  # fmt: skip
        try:
            response = send_before(self, request, **{**how, **ours})
        except requests.RequestException as failure:
            heard.error = heard.error or _why_failed(failure, limits)
            raise
        heard.status = response.status_code
        heard.retry_after = response.headers.get("Retry-After", "")
        heard.text = _first_of(response)
        return response

    urllib3.util.connection.create_connection = connect
    HTTPAdapter.init_poolmanager = init_pools  # type: ignore[method-assign]
    requests.Session.send = send  # type: ignore[method-assign]
    return heard


def _connected(
    address: tuple[str, int], allowed: list[Any], timeout: float, options: Any
) -> socket.socket:
    """One deadline for all addresses that the name has."""
    until = time.monotonic() + timeout
    host, port = address[0].strip("[]"), address[1]
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for *_, (ip, *_rest) in addresses:
        if why := refusal(ip_address(ip), allowed):
            raise RefusedError(f"Its name resolves to an address that is not allowed: {why}.")
    failure = OSError("no address")
    for family, kind, protocol, _, to in addresses:
        made = socket.socket(family, kind, protocol)
        try:
            for option in options or ():
                made.setsockopt(*option)
            made.settimeout(max(0.01, until - time.monotonic()))
            made.connect(to)
        except OSError as error:
            failure = error
            made.close()
        else:
            return made
    raise failure


def _first_of(response: requests.Response) -> bytes:
    """What came of the body within a second, for Apprise too: an answer may never end."""
    parts: list[bytes] = []

    def read() -> None:
        with suppress(Exception):
            while sum(map(len, parts)) < _MAX_ANSWER and (
                part := response.raw.read1(_READ_AT_ONCE, decode_content=True)
            ):
                parts.append(part)

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(_REST_SECONDS)
    text = b"".join(parts)
    response._content = text
    response._content_consumed = True  # type: ignore[attr-defined]
    return text


def _why_failed(failure: requests.RequestException, limits: Limits) -> str:
    """Without the exception's own words, which have the address."""
    why: BaseException | None = failure
    while why is not None:
        if isinstance(why, ssl.SSLCertVerificationError):
            return f"Its certificate is not accepted: {why.verify_message}."
        why = why.__cause__ or why.__context__
    match failure:
        case requests.exceptions.SSLError():
            return "The TLS handshake with it failed."
        case requests.Timeout():
            return f"There was no answer within {limits.total:g} s."
        case requests.ConnectionError():
            return "It closed the connection without an answer."
    return "Its address cannot be used."
