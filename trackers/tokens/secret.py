"""Secrets that we hand out: shown once, and stored only as a digest.

A digest without salt or stretching is enough: these are random, not chosen by people.
"""

from __future__ import annotations

import hashlib
import secrets

DIGEST_LETTERS = 64


def new_secret() -> str:
    """43 characters that need no escaping in a header or a path."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "backslashreplace")).hexdigest()
