"""`Idempotency-Key`: what a token asks for with a key is done once, if repeated within a day.

keep ─> done ─> answered   in one transaction: either all of it happened, or the key is unused

The API gives its answer again, so it keeps it. The bus has only one, and keeps none.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.conf import settings

from trackers.credentials.secrets import fernet
from tweetwatch.database import cursor
from tweetwatch.retention import Retention

_KEY = re.compile(r"[!-~]([ -~]{0,253}[!-~])?")
_BAD_KEY = "Idempotency-Key must have 1 to 255 printable ASCII characters."
_KEY_LIFETIME = timedelta(hours=24)
# Neither door's keys are forgotten sooner because the other has many.
RETENTIONS = (
    # About 300 MB of them, with their indexes.
    Retention(
        "trackers_idempotencykey",
        which="answer IS NULL",
        what="keys of publications",
        lasts=_KEY_LIFETIME,
        most=2_000_000,
        at_once=20_000,
    ),
    # Most take less than a kilobyte, with their indexes.
    Retention(
        "trackers_idempotencykey",
        which="answer IS NOT NULL",
        what="answers of the API",
        lasts=_KEY_LIFETIME,
        most=500_000,
        at_once=5_000,
    ),
)

# The first to use a key keeps it; a second one waits for the first one's commit. A key that is a
# day old counts as unused, even before it is forgotten.
# Locks: the row of the key, until the commit of what is done with it.
_CLAIM_KEY = """
    INSERT INTO trackers_idempotencykey AS k (token_id, key, asked)
    VALUES (%(token)s, %(key)s, %(asked)s)
    ON CONFLICT (token_id, key) DO UPDATE
    SET asked = excluded.asked, at = excluded.at, status = NULL, content_type = '', answer = NULL
    WHERE k.at < now() - %(kept)s
    RETURNING true
"""
_FIND_REQUEST = """
    SELECT asked FROM trackers_idempotencykey WHERE token_id = %(token)s AND key = %(key)s
"""
_STORE_ANSWER = """
    UPDATE trackers_idempotencykey
    SET status = %(status)s, content_type = %(content_type)s, answer = %(answer)s
    WHERE token_id = %(token)s AND key = %(key)s
"""
_FIND_ANSWER = """
    SELECT status, content_type, answer FROM trackers_idempotencykey
    WHERE token_id = %(token)s AND key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A token's key, and the request made with it (`half_of`)."""

    token_id: int
    key: UUID
    asked: UUID


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    content_type: str
    body: bytes


class UsedOtherwiseError(Exception):
    """The key was used for another request."""


def key_of(header: str) -> UUID:
    if not _KEY.fullmatch(header):
        raise ValueError(_BAD_KEY)
    return half_digest(header.encode())


def half_digest(text: bytes) -> UUID:
    """The first half of its SHA-256."""
    return UUID(bytes=hashlib.sha256(text).digest()[:16])


def claim_key(request: KeyedRequest) -> bool:
    """Whether the key was unused; from the commit on it counts as used."""
    values = {
        "token": request.token_id,
        "key": request.key,
        "asked": request.asked,
        "kept": _KEY_LIFETIME,
    }
    with cursor() as db:
        if db.execute(_CLAIM_KEY, values).fetchone():
            return True
        row = db.execute(_FIND_REQUEST, values).fetchone()
    if row is None or row[0] != request.asked:
        raise UsedOtherwiseError
    return False


def store_answer(request: KeyedRequest, answer: Answer) -> None:
    sealed = fernet(tuple(settings.FIELD_KEYS)).encrypt(answer.body)
    values = {"token": request.token_id, "key": request.key, "status": answer.status}
    with cursor() as db:
        db.execute(
            _STORE_ANSWER, {**values, "content_type": answer.content_type[:100], "answer": sealed}
        )


def find_answer(request: KeyedRequest) -> Answer:
    """How a request was answered whose key is used."""
    with cursor() as db:
        row = db.execute(_FIND_ANSWER, {"token": request.token_id, "key": request.key}).fetchone()
    if row is None:
        raise UsedOtherwiseError
    status, content_type, sealed = row
    return Answer(status, content_type, _decrypt_answer(bytes(sealed)))


def _decrypt_answer(sealed: bytes) -> bytes:
    """Empty when FIELD_KEYS no longer contain its key: the request was done all the same."""
    try:
        return fernet(tuple(settings.FIELD_KEYS)).decrypt(sealed)
    except InvalidToken:
        return b""
