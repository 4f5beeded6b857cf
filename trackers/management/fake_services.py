"""Chats that the demo and the tests send to, with what each service documents: its limits, its
errors, its formats. `python -m …fake_services PORT`; its page shows the messages that arrived.

The answers are those of the documents named in trackers/channels/shapes.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_KEPT = 200
_MOST_BODY = 1_000_000
_BOT = "123456:fake-token-of-the-demo"
_HTML_TAG = re.compile(r"<(/?)(b|a)(?: href=\"[^\"<>]*\")?>|<|&(?!(?:amp|lt|gt|quot|#x27);)")
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="3">
<meta name="color-scheme" content="light dark"><title>Fake chats</title></head><body>
<h1>Messages that arrived</h1>
<p>These stand in for the real services. The newest is first.</p>{messages}</body></html>"""


@dataclass(frozen=True, slots=True)
class Arrived:
    service: str
    text: str  # as it was sent, with its markup
    body: dict[str, Any]
    at: float


@dataclass(frozen=True, slots=True)
class ServiceReply:
    status: int
    body: str | dict[str, Any] = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to one of the services."""

    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: dict[str, Any]
    size: int


class Services:
    """What all of them have received. `refusals`: what a service answers instead, for tests."""

    def __init__(self, *, are_paced: bool = True) -> None:
        self.arrived: deque[Arrived] = deque(maxlen=_KEPT)
        self.refusals: dict[str, ServiceReply] = {}
        self.requests: defaultdict[str, list[float]] = defaultdict(list)
        self._are_paced = are_paced
        self._transactions: set[str] = set()
        self._lock = threading.Lock()

    def answer(self, service: str, asked: Asked) -> ServiceReply:
        with self._lock:
            self.requests[service].append(time.time())
            if refusal := self.refusals.get(service):
                return refusal
            if self._are_paced and (wait := self._wait(service)):
                return _THROTTLED[service](wait)
            text, reply = _SERVICES[service](asked)
            if reply.status < 300 and not self._is_repeated(service, asked):
                self.arrived.appendleft(Arrived(service, text, asked.body, time.time()))
            return reply

    def _wait(self, service: str) -> float:
        """How many seconds until it takes another message; it took too many lately if not 0."""
        most, within = _ALLOWED.get(service, (60, 60.0))
        now = time.time()
        lately = [
            one.at for one in self.arrived if one.service == service and one.at > now - within
        ]
        return within - (now - lately[most - 1]) if len(lately) >= most else 0.0

    def _is_repeated(self, service: str, asked: Asked) -> bool:
        """A transaction that Matrix has seen is the same event."""
        if service != "matrix":
            return False
        is_known = asked.path in self._transactions
        self._transactions.add(asked.path)
        return is_known


def _slack(asked: Asked) -> tuple[str, ServiceReply]:
    text = asked.body.get("text")
    if not isinstance(text, str):
        return "", ServiceReply(400, "invalid_payload")
    return text, ServiceReply(200, "ok") if text else ServiceReply(400, "no_text")


def _teams(asked: Asked) -> tuple[str, ServiceReply]:
    try:
        [attachment] = asked.body["attachments"]
        is_card = attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
        runs = [block["inlines"] for block in attachment["content"]["body"]]
        text = "\n".join("".join(one["text"] for one in line) for line in runs)
    except (KeyError, TypeError, ValueError):
        is_card, text = False, ""
    if not is_card or asked.body.get("type") != "message":
        return "", ServiceReply(
            400, {"error": {"code": "TriggerInputSchemaMismatch", "message": "No card."}}
        )
    if asked.size > 28 * 1024:
        return "", ServiceReply(
            413, {"error": {"code": "RequestEntityTooLarge", "message": "Too large."}}
        )
    return text, ServiceReply(202)


def _discord(asked: Asked) -> tuple[str, ServiceReply]:
    text = asked.body.get("content") or ""
    if not 0 < len(text.encode("utf-16-le")) // 2 <= 2000:
        return "", ServiceReply(400, {"message": "Invalid Form Body", "code": 50035})
    is_waited_for = asked.query.get("wait") == ["true"]
    return text, ServiceReply(200, {"id": "1", "content": text}) if is_waited_for else ServiceReply(
        204
    )


def _telegram(asked: Asked) -> tuple[str, ServiceReply]:
    def refusal(code: int, words: str) -> tuple[str, ServiceReply]:
        return "", ServiceReply(code, {"ok": False, "error_code": code, "description": words})

    if asked.path != f"/bot{_BOT}/sendMessage":
        return refusal(401, "Unauthorized")
    if not asked.body.get("chat_id"):
        return refusal(400, "Bad Request: chat not found")
    text = asked.body.get("text") or ""
    if asked.body.get("parse_mode") == "HTML":
        if any(not match[2] for match in _HTML_TAG.finditer(text)):
            return refusal(400, "Bad Request: can't parse entities")
        shown = unescape(re.sub(r"<[^>]*>", "", text))
    else:
        shown = text
    if not 0 < len(shown.encode("utf-16-le")) // 2 <= 4096:
        return refusal(400, "Bad Request: message is too long")
    return text, ServiceReply(200, {"ok": True, "result": {"message_id": 1}})


def _ntfy(asked: Asked) -> tuple[str, ServiceReply]:
    def refusal(status: int, code: int, words: str) -> tuple[str, ServiceReply]:
        return "", ServiceReply(status, {"code": code, "http": status, "error": words})

    if not re.fullmatch(r"[-_A-Za-z0-9]{1,64}", str(asked.body.get("topic") or "")):
        return refusal(400, 40009, "invalid request: topic invalid")
    token = asked.headers.get("Authorization", "")
    if token and not re.fullmatch(r"Bearer tk_[a-z0-9]{29}", token):
        return refusal(401, 40101, "unauthorized")
    text = asked.body.get("message") or ""
    if len(text.encode()) > 4096:
        return refusal(413, 41301, "attachment too large, or bandwidth limit reached")
    return f"{asked.body.get('title') or ''}\n{text}", ServiceReply(
        200, {"id": "1", "event": "message"}
    )


def _google_chat(asked: Asked) -> tuple[str, ServiceReply]:
    text = asked.body.get("text") or ""
    if not 0 < len(text) <= 4096:
        error = {"code": 400, "message": "Message cannot be empty.", "status": "INVALID_ARGUMENT"}
        return "", ServiceReply(400, {"error": error})
    return text, ServiceReply(200, {"name": "spaces/1/messages/1"})


def _mattermost(asked: Asked) -> tuple[str, ServiceReply]:
    text = asked.body.get("text") or ""
    if not 0 < len(text) <= 16383:
        return "", ServiceReply(
            400, {"id": "web.incoming_webhook.text.app_error", "message": "No text."}
        )
    return text, ServiceReply(200, "ok")


def _matrix(asked: Asked) -> tuple[str, ServiceReply]:
    def refusal(status: int, code: str, words: str) -> tuple[str, ServiceReply]:
        return "", ServiceReply(status, {"errcode": code, "error": words})

    if asked.headers.get("Authorization") != "Bearer fake-access-token":
        return refusal(401, "M_UNKNOWN_TOKEN", "Unknown access token")
    if not unquote(asked.path).startswith("/_matrix/client/v3/rooms/!"):
        return refusal(403, "M_FORBIDDEN", "User not in room")
    return str(asked.body.get("body") or ""), ServiceReply(200, {"event_id": "$1"})


_SERVICES: dict[str, Callable[[Asked], tuple[str, ServiceReply]]] = {
    "slack": _slack,
    "teams": _teams,
    "discord": _discord,
    "telegram": _telegram,
    "ntfy": _ntfy,
    "google_chat": _google_chat,
    "mattermost": _mattermost,
    "matrix": _matrix,
}
# Messages, in so many seconds.
_ALLOWED = {"slack": (1, 1.0), "discord": (30, 60.0), "telegram": (20, 60.0), "teams": (4, 1.0)}
_THROTTLED: dict[str, Callable[[float], ServiceReply]] = {
    "slack": lambda wait: ServiceReply(429, "rate_limited", _later(wait)),
    "teams": lambda wait: ServiceReply(429, {"error": {"message": "Rate limit."}}, _later(wait)),
    "discord": lambda wait: ServiceReply(
        429,
        {"message": "You are being rate limited.", "retry_after": wait, "global": False},
        _later(wait),
    ),
    "telegram": lambda wait: ServiceReply(
        429,
        {
            "ok": False,
            "error_code": 429,
            "description": f"Too Many Requests: retry after {int(wait) + 1}",
            "parameters": {"retry_after": int(wait) + 1},
        },
    ),
    "ntfy": lambda wait: ServiceReply(
        429, {"code": 42901, "error": "limit reached: too many requests"}
    ),
    "google_chat": lambda wait: ServiceReply(
        429, {"error": {"code": 429, "message": "Quota exceeded."}}
    ),
    "mattermost": lambda wait: ServiceReply(429, "limit exceeded", _later(wait)),
    "matrix": lambda wait: ServiceReply(
        429,
        {
            "errcode": "M_LIMIT_EXCEEDED",
            "error": "Too Many Requests",
            "retry_after_ms": wait * 1000,
        },
    ),
}
_PATHS = (
    ("POST", "/services/", "slack"),
    ("POST", "/workflows/", "teams"),
    ("POST", "/api/webhooks/", "discord"),
    ("POST", "/bot", "telegram"),
    ("POST", "/v1/spaces/", "google_chat"),
    ("POST", "/hooks/", "mattermost"),
    ("PUT", "/_matrix/", "matrix"),
)


def addresses(base: str) -> dict[str, dict[str, str]]:
    """The parts of an address at each of these services, by the kinds of channels."""
    return {
        "slack": {"url": f"{base}/services/T0FAKE/B0FAKE/secret-of-slack"},
        "teams": {"url": f"{base}/workflows/fake/triggers/manual?sig=secret-of-teams"},
        "discord": {"url": f"{base}/api/webhooks/1234567890/secret-of-discord"},
        "telegram": {"token": _BOT, "chat": "-1001234567890", "server": base},
        "ntfy": {"server": base, "topic": "secret-topic-of-the-demo"},
        "google_chat": {"url": f"{base}/v1/spaces/FAKE/messages?key=k&token=secret-of-google"},
        "mattermost": {"url": f"{base}/hooks/secret-of-mattermost"},
        "matrix": {"server": base, "token": "fake-access-token", "room": "!fake:chat.example"},
    }


def _later(wait: float) -> dict[str, str]:
    return {"Retry-After": str(int(wait) + 1)}


def server(services: Services, port: int = 0) -> ThreadingHTTPServer:
    """To be served by the caller."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            rows = "".join(
                f"<article><h2>{escape(one.service)}</h2><pre>{escape(one.text)}</pre></article>"
                for one in services.arrived
            )
            page = _PAGE.format(messages=rows or "<p>None yet.</p>")
            self._say(ServiceReply(200, page, {"Content-Type": "text/html; charset=utf-8"}))

        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            size = min(int(self.headers.get("Content-Length") or 0), _MOST_BODY)
            try:
                body = json.loads(self.rfile.read(size))
            except ValueError:
                self._say(ServiceReply(400, "invalid_payload"))
                return
            # ntfy takes JSON at its root.
            service = "ntfy" if parts.path == "/" else self._service_at(parts.path)
            if service is None or not isinstance(body, dict):
                self._say(ServiceReply(404, "no_service"))
                return
            query = parse_qs(parts.query)
            asked = Asked(parts.path, query, dict(self.headers.items()), body, size)
            self._say(services.answer(service, asked))

        do_PUT = do_POST

        def _service_at(self, path: str) -> str | None:
            of = (
                name
                for method, start, name in _PATHS
                if self.command == method and path.startswith(start)
            )
            return next(of, None)

        def _say(self, reply: ServiceReply) -> None:
            is_text = isinstance(reply.body, str)
            body = (reply.body if is_text else json.dumps(reply.body)).encode()  # type: ignore[union-attr]
            self.send_response(reply.status)
            kind = "text/plain" if is_text else "application/json"
            headers = {"Content-Type": kind, "Content-Length": str(len(body)), **reply.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Its page shows what arrived; addresses are secrets."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    server(Services(), int(sys.argv[1])).serve_forever()
