"""Which credential asks next, and what becomes of it after X's reply.

take ─> a request with it ─> learn its window ─> accept, or refuse

The one that rested longest goes first. A window that X told of is counted down when a credential
is taken, so that workers do not all believe in the same last request; a window that is unknown, or
has been reset since, is believed to have room until a reply tells. Every call is one short
statement of its own, in the database's time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from trackers.xapi.endpoints import TWEETS
from trackers.xapi.models import Credential
from trackers.xapi.secrets import SecretUnreadableError, decrypt
from trackers.xapi.standing import accept, learn, refuse
from tweetwatch.database import cursor

__all__ = ["NoCredential", "NoRoom", "Turn", "accept", "learn", "refuse", "take"]


@dataclass(frozen=True, slots=True)
class Turn:
    credential: Credential


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Every credential has used up its window; `until` the first of them is reset."""

    until: datetime
    why: str


@dataclass(frozen=True, slots=True)
class NoCredential:
    """There is none that may be used. `why` says what a person has to do."""

    why: str


# What a crash of the database forgets of this is who came last, and a count that the next reply
# corrects: so nobody waits for the disk (synchronous_commit, off for this statement alone).
# The credential's row is locked before its window is counted down, by every taker in this order.
# SKIP LOCKED: while one taker commits, the next takes another credential instead of waiting.
# `counted` sees a count that was taken to 0 since this statement's snapshot: then nothing is taken.
TAKE = """
    WITH chosen AS MATERIALIZED (
        SELECT c.id, w.id AS window_id
        FROM trackers_credential c
        LEFT JOIN trackers_window w
            ON w.credential_id = c.id AND w.endpoint = (%(endpoints)s::jsonb ->> c.api)
                AND w.resets_at > statement_timestamp()
        WHERE c.disabled_at IS NULL AND %(endpoints)s::jsonb ? c.api
            AND c.id <> ALL (%(except)s::bigint[])
            AND (w.id IS NULL OR w.remaining > 0)
        ORDER BY c.used_at NULLS FIRST, c.id
        LIMIT 1
        FOR UPDATE OF c SKIP LOCKED
    ), counted AS (
        UPDATE trackers_window w SET remaining = w.remaining - 1
        FROM chosen WHERE w.id = chosen.window_id AND w.remaining > 0
        RETURNING w.id
    )
    UPDATE trackers_credential c SET used_at = clock_timestamp()
    FROM chosen
    WHERE c.id = chosen.id AND (chosen.window_id IS NULL OR EXISTS (SELECT FROM counted))
    RETURNING c.id, c.name, c.kind, c.api, c.app, c.project, c.secrets, c.refused,
        set_config('synchronous_commit', 'off', true)
"""
# The same, but waiting: for the moment in which all that have room are somebody else's.
TAKE_AND_WAIT = TAKE.replace(" SKIP LOCKED", "")

LOADED = ("id", "name", "kind", "api", "app", "project", "secrets", "refused")

# Who could be taken, in the order of their resets; a null reset or some remaining is room.
CANDIDATES = """
    SELECT c.name, c.disabled_at IS NOT NULL, c.disabled_because, w.remaining, w.resets_at
    FROM trackers_credential c
    LEFT JOIN trackers_window w
        ON w.credential_id = c.id AND w.endpoint = (%(endpoints)s::jsonb ->> c.api)
            AND w.resets_at > statement_timestamp()
    WHERE %(endpoints)s::jsonb ? c.api AND c.id <> ALL (%(except)s::bigint[])
    ORDER BY w.resets_at NULLS FIRST, c.name
"""
ATTEMPTS = 5
# By the database's clock, as every hold: this host's may be an hour off.
IN_A_MOMENT = "SELECT now() + interval '1 second'"


def take(endpoint_of: Mapping[str, str] = TWEETS) -> Turn | NoRoom | NoCredential:
    """The credential whose turn it is to call an endpoint, and its window counted down by one.

    `endpoint_of` names the endpoint per version of the API (trackers.xapi.endpoints); credentials
    of other versions are passed over. One whose secrets cannot be decrypted is passed over too.
    """
    unreadable: dict[int, str] = {}
    for _ in range(ATTEMPTS):
        params = {"endpoints": json.dumps(dict(endpoint_of)), "except": list(unreadable)}
        row = first(TAKE, params) or first(TAKE_AND_WAIT, params)
        if row is None:
            why = why_nobody(params, unreadable)
            if why is not None:
                return why
            continue
        try:
            return Turn(loaded(row))
        except SecretUnreadableError as error:
            unreadable[row[0]] = f"{row[1]}: {error}"
    if unreadable:
        return NoCredential(advice([], unreadable))
    # Others were faster each time, so that the windows are nearly used up.
    until = first(IN_A_MOMENT, {})
    assert until is not None
    return NoRoom(until[0], "Other workers have the last requests of the windows.")


def first(sql: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    with cursor() as db:
        return db.execute(sql, params).fetchone()


def loaded(row: tuple[Any, ...]) -> Credential:
    values = dict(zip(LOADED, row, strict=False))
    values["secrets"] = decrypt(values["secrets"])
    return Credential.from_db(connection.alias, LOADED, list(values.values()))


def why_nobody(
    params: Mapping[str, Any], unreadable: Mapping[int, str]
) -> NoRoom | NoCredential | None:
    """Why none was taken; None when one has room after all."""
    with cursor() as db:
        rows = db.execute(CANDIDATES, params).fetchall()
    enabled = [row for row in rows if not row[1]]
    if not enabled:
        return NoCredential(advice(rows, unreadable))
    name, *_, resets_at = enabled[0]
    if any(row[3] is None or row[3] > 0 for row in enabled):
        return None
    who = "The only credential has" if len(enabled) == 1 else f"All {len(enabled)} credentials have"
    why = f"{who} used up what X allows; {name} may ask again at {resets_at:%H:%M:%S} UTC."
    return NoRoom(resets_at, why)


def advice(rows: list[tuple[Any, ...]], unreadable: Mapping[int, str]) -> str:
    if unreadable:
        return next(iter(unreadable.values()))
    if rows:
        name, _, because, _, _ = rows[0]
        return (
            f"No credential is enabled ({name}: {because or 'disabled by hand'}). "
            f"See what is wrong with `manage.py credential check`, then `credential enable {name}`."
        )
    return (
        "There is no credential for X yet. Add one in the admin, or with "
        "`manage.py credential add NAME --kind bearer`."
    )
