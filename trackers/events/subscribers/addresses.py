"""What an address of a callback or of an event has to look like.

Whether it may be called is decided when it is, from what its name resolves to.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MOST_CALLBACK, MOST_EVENT = 2000, 1024

# What RFC 3986 lets stand in an address, of ASCII alone. Others are read differently by programs.
LETTERS = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")


def fault_of(address: str, *, most: int, plain_http: bool) -> str:
    """What is wrong with it, as the end of a sentence that begins with its name; empty: nothing."""
    if len(address) > most:
        return f"is longer than {most:,} characters"
    if not LETTERS.fullmatch(address):
        return "is empty, or has characters that do not belong into an address"
    try:
        parts = urlsplit(address)
        # A port that is none is found when it is asked for.
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
