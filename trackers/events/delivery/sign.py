"""Signatures as in Standard Webhooks 1.0, one with each valid secret.

https://www.standardwebhooks.com: HMAC-SHA256 over `id.timestamp.body`, with the body byte by byte
as it is sent. The id is the same for all attempts; the time is that of the attempt.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable

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
