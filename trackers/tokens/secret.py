"""Secrets that we hand out: shown once, and kept as a digest alone.

A digest without salt or stretching is enough: these are random, and nobody chose them.
"""

from __future__ import annotations

import hashlib
import secrets

DIGEST_LETTERS = 64


def new_secret() -> str:
    """43 letters that go into a header or a path as they are."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "backslashreplace")).hexdigest()
