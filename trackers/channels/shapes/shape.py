"""A shape: the parts of an address, the request that carries a message, how a refusal reads.

parts, Message ─> request ─> Call ─> Answer ─> read ─> Reading
Everything here is pure. What a service documents stands beside the number it gives, with its date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from trackers.channels.message import Markup, Message, fitted, one_line, utf16
from trackers.events.delivery.call import Answer, Call, retry_after

Parts = Mapping[str, str]
_MOST_WORDS = 160
# Longer waits are cut: by then the message is given up.
_LONGEST_WAIT_ASKED = timedelta(days=1)
# Shorter ones are in every text, so hiding them would only garble it.
_LEAST_HIDDEN = 6


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an address, as the service calls it."""

    name: str
    label: str
    help: str  # where to find it
    link: str = ""  # the service's page about that
    is_secret: bool = True
    is_optional: bool = False
    is_url: bool = False
    pattern: str = r"[!-~]+"  # of the whole
    wrong: str = "It has white space, or characters that it never has."
    default: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer means."""

    why: str = ""  # a sentence; empty: the service took the message
    wait: timedelta | None = None  # what the service asks for
    is_throttled: bool = False
    is_gone: bool = False  # the service says that it will never work again


@dataclass(frozen=True, slots=True)
class ServiceShape:
    label: str
    parts: tuple[Part, ...]
    # Parts, a message, and a key that is the same at each attempt.
    request: Callable[[Parts, Message, str], Call]
    # Between two messages; what the service allows, and where it says so.
    every: timedelta
    # Where in a JSON answer its words are; without JSON the text is.
    words: tuple[str, ...] = ()
    # Where in a JSON answer a wait is, and its unit in seconds.
    wait: tuple[str, ...] = ()
    wait_unit: float = 1.0
    # What helps, by a word of the answer.
    hints: Mapping[str, str] = field(default_factory=dict)
    # Statuses after which nothing is sent until a person acts.
    gone: frozenset[int] = frozenset((410,))
    # Whether people type the address. A browser gives its own, and is removed once it is gone.
    is_typed: bool = True
    # The module of an extra that sends, in a process of its own (`channels.by_apprise`).
    extra: str = ""
    # What a person may see of the address.
    shown: Callable[[Parts], str] = lambda parts: host_of(parts["url"])

    def part(self, name: str) -> Part:
        return next(one for one in self.parts if one.name == name)

    def read(self, answer: Answer, parts: Parts) -> Reading:
        """What an answer means; its words without the parts of the address that are secret."""
        if answer.is_yes:
            return Reading()
        body = _json_of(answer.text)
        words = _masked(self._words_of(body, answer.text), self._secrets_of(parts))
        refusal = f"{answer.error.rstrip('.')}: {words.rstrip('.')}." if words else answer.error
        hint = next((hint for word, hint in self.hints.items() if word in words), "")
        wait = _seconds(_at(body, self.wait), self.wait_unit)
        asked = retry_after(answer.retry_after, now=datetime.now(UTC))
        waits = [one for one in (wait, asked) if one is not None]
        return Reading(
            why=f"{refusal} {hint}".strip(),
            wait=min(max(waits), _LONGEST_WAIT_ASKED) if waits else None,
            is_throttled=answer.status == 429,
            is_gone=answer.status in self.gone,
        )

    def _words_of(self, body: Any, text: bytes) -> str:
        if body is not None:
            found = _at(body, self.words)
            return one_line(found, _MOST_WORDS) if isinstance(found, str) else ""
        plain = text.decode(errors="replace")
        # An error page of a proxy helps nobody.
        return "" if "<" in plain else one_line(plain, _MOST_WORDS)

    def _secrets_of(self, parts: Parts) -> set[str]:
        hidden = set()
        for part in self.parts:
            if part.is_secret and (value := parts.get(part.name, "")):
                hidden |= {value, *re.split(r"[/?&=:@]", value)}
        return {one for one in hidden if len(one) >= _LEAST_HIDDEN}


def post_json(
    url: str, body: Mapping[str, Any], *, of: str, method: str = "POST", token: str = ""
) -> Call:
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "tweetwatch",
        "Accept-Encoding": "identity",
    }
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return Call(method, url, headers, json.dumps(body, ensure_ascii=False).encode(), of=of)


def text_to_url(
    markup: Markup, *, most: int, size: Callable[[str], int] = utf16, **also: Any
) -> Callable[[Parts, Message, str], Call]:
    """The request of a webhook that takes JSON with the message as `text`."""

    def request(parts: Parts, message: Message, key: str) -> Call:
        text = fitted(message, markup.written, most=most, size=size)
        return post_json(parts["url"], {"text": text, **also}, of=key)

    return request


def webhook_url(help: str, link: str) -> tuple[Part, ...]:
    """The parts of an address that is a URL alone, as the service gives it."""
    return (Part("url", "Webhook URL", help, link, is_url=True),)


def host_of(url: str) -> str:
    return urlsplit(url).netloc or "?"


def _json_of(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _at(body: Any, path: Sequence[str]) -> Any:
    for name in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body if path else None


def _seconds(value: Any, unit: float) -> timedelta | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value * unit <= _LONGEST_WAIT_ASKED.total_seconds() * 1000:
        return None
    return timedelta(seconds=value * unit)


def _masked(words: str, secrets: set[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        words = words.replace(secret, "…")
    return words
