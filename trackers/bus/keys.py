"""Publish once, however often a client asks: the Idempotency-Key of a request.

A client that got no answer retries with the same key; within a day that stores no second event.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import astuple
from datetime import timedelta
from uuid import UUID

import orjson

from trackers.bus.auth import Caller
from trackers.outbox.tell import Told
from tweetwatch.database import cursor
from tweetwatch.forgetting import Kept
from tweetwatch.http.refusals import Refused

KEY = re.compile(r"[!-~]([ -~]{0,253}[!-~])?")
# About 300 MB of them, with their indexes.
KEPT = Kept(
    "trackers_publishedkey", "keys", lasts=timedelta(hours=24), most=2_000_000, at_once=20_000
)

# The first to use a key keeps it; a second one waits for the first one's commit. A key that is a
# day old counts as unused, even before it is forgotten.
# Locks: the row of the key, until the commit of its event.
KEEP = """
    INSERT INTO trackers_publishedkey AS k (token_id, key, body)
    VALUES (%(token)s, %(key)s, %(body)s)
    ON CONFLICT (token_id, key) DO UPDATE SET body = excluded.body, at = excluded.at
    WHERE k.at < now() - %(kept)s
    RETURNING true
"""
KNOWN = "SELECT body FROM trackers_publishedkey WHERE token_id = %(token)s AND key = %(key)s"


def key_of(header: str | None) -> str | None:
    """None if the request has no key."""
    if header is None:
        return None
    if not KEY.fullmatch(header):
        raise ValueError("Idempotency-Key must have 1 to 255 printable ASCII characters.")
    return header


def is_first(key: str, caller: Caller, event: Told) -> bool:
    """Whether this client has not used the key before; from the commit on it counts as used.

    Refused with 422 if the client published something else with it.
    """
    body = half_of(orjson.dumps(astuple(event), option=orjson.OPT_SORT_KEYS))
    asked = {
        "token": caller.token_id,
        "key": half_of(key.encode()),
        "body": body,
        "kept": KEPT.lasts,
    }
    with cursor() as db:
        if db.execute(KEEP, asked).fetchone():
            return True
        row = db.execute(KNOWN, asked).fetchone()
    if row is None or row[0] != body:
        raise Refused(422, "Another event was published with this Idempotency-Key.")
    return False


def half_of(text: bytes) -> UUID:
    return UUID(bytes=hashlib.sha256(text).digest()[:16])
