"""A POST with an Idempotency-Key is done once: repeated within a day, it gets the same answer.

keep ─> done ─> answered   in one transaction: either all of it happened, or the key is unused
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.conf import settings

from trackers.credentials.secrets import fernet
from tweetwatch.database import cursor
from tweetwatch.forgetting import Kept

# Most take less than a kilobyte, with their indexes.
KEPT = Kept("trackers_apianswer", "answers", lasts=timedelta(hours=24), most=500_000, at_once=5_000)

# The first to use a key keeps it; a second one waits for the first one's commit. A key that is a
# day old counts as unused, even before it is forgotten.
# Locks: the row of the key, until the commit of what is done with it.
KEEP = """
    INSERT INTO trackers_apianswer AS a (token_id, key, asked)
    VALUES (%(token)s, %(key)s, %(asked)s)
    ON CONFLICT (token_id, key) DO UPDATE
    SET asked = excluded.asked, at = excluded.at, status = NULL, answer = NULL
    WHERE a.at < now() - %(kept)s
    RETURNING true
"""
KNOWN = """
    SELECT asked, status, content_type, answer FROM trackers_apianswer
    WHERE token_id = %(token)s AND key = %(key)s
"""
ANSWER = """
    UPDATE trackers_apianswer
    SET status = %(status)s, content_type = %(content_type)s, answer = %(answer)s
    WHERE token_id = %(token)s AND key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A token's key, and the request made with it."""

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


def keep(one: Asked) -> Answer | None:
    """None: the key was unused, and is now stored; else how its request was answered."""
    given = {"token": one.token_id, "key": one.key, "asked": one.asked, "kept": KEPT.lasts}
    with cursor() as db:
        if db.execute(KEEP, given).fetchone():
            return None
        row = db.execute(KNOWN, given).fetchone()
    if row is None or row[0] != one.asked:
        raise UsedOtherwiseError
    _, status, content_type, sealed = row
    return Answer(status, content_type, opened(bytes(sealed)))


def opened(sealed: bytes) -> bytes:
    """Empty when FIELD_KEYS no longer contain its key: the request was done all the same."""
    try:
        return fernet(tuple(settings.FIELD_KEYS)).decrypt(sealed)
    except InvalidToken:
        return b""


def answer(one: Asked, given: Answer) -> None:
    sealed = fernet(tuple(settings.FIELD_KEYS)).encrypt(given.body)
    row = {"token": one.token_id, "key": one.key, "status": given.status}
    with cursor() as db:
        db.execute(ANSWER, {**row, "content_type": given.content_type[:100], "answer": sealed})
