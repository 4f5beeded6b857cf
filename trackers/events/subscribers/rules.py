"""What addresses, names, topics and user names of Basic auth must look like, and limits.

Each RULE is the end of a sentence that begins with what it is about.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

MOST_CALLBACK, MOST_EVENT = 2000, 1024

# The characters that RFC 3986 allows, all ASCII. Programs disagree on how to read others.
_LETTERS = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")


def fault_of(address: str, *, most: int, plain_http: bool) -> str:
    """What is wrong with it, as the end of a sentence that begins with its name; empty if valid."""
    if len(address) > most:
        return f"is longer than {most:,} characters"
    if not _LETTERS.fullmatch(address):
        return "is empty, or has characters that do not belong in an address"
    try:
        parts = urlsplit(address)
        # urlsplit only raises on an invalid port when `port` is read.
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not an address"
    schemes = ("https", "http") if plain_http else ("https",)
    if parts.scheme not in schemes or not host or port == 0:
        only = ", since EGRESS_PLAIN_HTTP is not set" if parts.scheme == "http" else ""
        return f"is not an address with {' or '.join(schemes)}://{only}"
    if "?" in address:
        return "has a query string"
    if "@" in parts.netloc:
        return "has a user name or a password"
    return ""


# Names of subscribers, of publishers, and of their tokens.
NAME = re.compile(r"\A[a-z0-9:_-]{1,64}\Z")
NAME_RULE = "has 1 to 64 of the characters a to z, 0 to 9, : _ and -."
TOPIC = re.compile(r"\A[a-z_]{1,64}\Z")
_TOPIC_RULE = "has 1 to 64 lowercase letters a to z and underscores."
# The user name of HTTP Basic auth.
UUID = re.compile(r"\A[ -9;-~]{1,200}\Z")
_UUID_RULE = "is up to 200 printable characters of ASCII without a colon."

MOST_TOPICS = 1000
MOST_FILTERED = 1000
MOST_EVENTS, MOST_TIMEOUT, MOST_CONCURRENCY = 10_000, 3_600_000, 100
# Events a second; beyond this a limit makes no sense.
MOST_RATE = 1_000_000


def check_callback(address: str) -> None:
    plain_http = settings.EGRESS_PLAIN_HTTP
    if fault := fault_of(address, most=MOST_CALLBACK, plain_http=plain_http):
        raise ValidationError(f"The callback {fault}.")


def check_uuid(uuid: str) -> None:
    if uuid and not UUID.fullmatch(uuid):
        raise ValidationError(f"A uuid {_UUID_RULE}")


def check_topics(names: list[str], *, may_be_none: bool = False) -> None:
    if not (names or may_be_none):
        raise ValidationError("Choose at least one topic.")
    if len(names) > MOST_TOPICS:
        raise ValidationError(f"There are more than {MOST_TOPICS:,} topics.")
    for name in names:
        if not TOPIC.fullmatch(name):
            raise ValidationError(f"The name of a topic {_TOPIC_RULE}")
