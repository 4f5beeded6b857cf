"""A subscriber's own headers, which are sent with its deliveries; their values are secrets.

They can neither replace our headers nor change how a request is parsed or forwarded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from django.core.exceptions import ValidationError

MOST_HEADERS, _MOST_NAME, _MOST_VALUE = 20, 100, 2000

# What RFC 9110 calls a token.
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")

# fmt: off
_OURS = frozenset((
    "host", "content-type", "content-length", "content-encoding", "user-agent", "accept-encoding",
    "expect",
))
# For a single connection, or for proxies.
_HOP_BY_HOP = frozenset((
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
))
# fmt: on


def is_ours(name: str) -> bool:
    low = name.lower()
    return low in _OURS or low in _HOP_BY_HOP or low.startswith("webhook-")


def read_line(line: str) -> tuple[str, str]:
    """Parse `Name: value`. No error quotes the value, nor anything that may be one."""
    name, colon, value = line.partition(":")
    if not colon:
        raise ValidationError("Write a header as Name: value.")
    return name.strip(" "), value.strip(" ")


def check_header(name: str, value: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _MOST_NAME:
        # Not quoted: if name and value are mixed up, the name is a secret.
        raise ValidationError(
            f"A header's name must have 1 to {_MOST_NAME} letters, digits or characters like - _ ."
        )
    if is_ours(name):
        raise ValidationError(
            f"The header {name} cannot be set: tweetwatch or HTTP itself sets it."
        )
    if not _VALUE.fullmatch(value) or len(value) > _MOST_VALUE:
        raise ValidationError(
            f"The value of the header {name} is 1 to {_MOST_VALUE:,} printable characters of "
            "ASCII, without a blank at its ends, and nothing of a second line."
        )


def named_twice(names: Iterable[str]) -> str:
    """A name that is given more than once, in any case; empty: there is none."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return ""


def changed(kept: Mapping[str, str], headers: Mapping[str, str | None]) -> dict[str, str]:
    """`kept` updated with `headers`, and without those that are None."""
    if twice := named_twice(headers):
        raise ValidationError(f"The header {twice} is given twice.")
    new = {name: value for name, value in headers.items() if value is not None}
    for name, value in new.items():
        check_header(name, value)
    named = {name.lower() for name in headers}
    headers_now = {name: value for name, value in kept.items() if name.lower() not in named} | new
    if len(headers_now) > MOST_HEADERS:
        raise ValidationError(f"There are more than {MOST_HEADERS} headers.")
    return headers_now
