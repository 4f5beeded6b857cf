"""What the address of a callback or of an event must look like.

Whether it may be called is decided at each call, by what its name resolves to.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

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
        return f"is not an address with {' or '.join(schemes)}://"
    if "?" in address:
        return "has a query string"
    if "@" in parts.netloc:
        return "has a user name or a password"
    return ""
