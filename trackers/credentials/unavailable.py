"""Why no credential may ask now, and when the first one may again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from trackers.credentials import sentences
from trackers.credentials.windows import (
    APP_IS_ASKED,
    APP_OPENS,
    HAS_CREDIT,
    HAS_TOKENS,
    IN_TURN,
    IS_COOLED_DOWN,
    IS_DUE,
    IS_UNHEARD,
    LAST,
    LIVE,
    OPENS,
    OVER,
    ROOM,
    TURN,
    UNHEARD_FOR,
    USABLE,
    WHICH,
)
from trackers.xapi.endpoints import endpoints_closed_to
from tweetwatch.clock_times import clock_time
from tweetwatch.database import cursor
from tweetwatch.statements import statement


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Every credential has used up its window."""

    until: datetime  # the first one has room again then
    why: str


@dataclass(frozen=True, slots=True)
class NoCredential:
    """No credential may be used."""

    why: str  # what a person has to do
    is_out_of_reach: bool = False  # no credential has this endpoint, until one is added or changed


class Candidate(NamedTuple):
    """When a credential may ask again."""

    name: str
    may_ask: bool
    at: datetime  # when to look
    # What besides its window keeps it from asking: X, its tokens, or its project's money.
    why: str
    has_room: bool  # whether its window has room, if not at once
    opens: datetime | None  # when X says that it opens, None when it did not
    is_refused: bool  # by X, here or altogether, and its next try is not due
    depleted: str  # its project's name, where X says that the money is used up
    is_awaited: bool  # the reply to the one request that tests for all is awaited
    now: datetime


# When somebody may ask again: soon if replies are awaited, else when the first window opens, or is
# due to be asked about anyway. A cool-down that ends with its window is not mentioned separately.
_MAY_ASK_AT = "statement_timestamp() + interval '250 milliseconds'"
_IS_USED_UP = f"({ROOM} <= 0 AND ({APP_OPENS} IS NOT NULL OR NOT {OVER}))"
_IS_AWAITED = f"""({ROOM} <= 0 AND {APP_OPENS} IS NULL AND ({OVER} OR cardinality({LIVE}) > 0
                      AND (w.remaining > cardinality(w.lost) OR {IS_UNHEARD})))"""
_ROOM_AGAIN = statement(
    __file__,
    "room_again",
    room=ROOM,
    in_turn=IN_TURN,
    has_tokens=HAS_TOKENS,
    has_credit=HAS_CREDIT,
    is_due=IS_DUE,
    refused_keys=sentences.REFUSED_KEYS,
    is_cooled_down=IS_COOLED_DOWN,
    soon=_MAY_ASK_AT,
    last=LAST,
    step=TURN,
    is_awaited=_IS_AWAITED,
    opens=f"coalesce({APP_OPENS}, {OPENS})",
    app_opens=APP_OPENS,
    app_is_asked=APP_IS_ASKED,
    unheard_for=UNHEARD_FOR,
    is_used_up=_IS_USED_UP,
    usable=USABLE,
    which=WHICH,
)
# By the database's clock, like every hold: this host's may be an hour off.
_IN_A_MOMENT = "SELECT now() + interval '1 second'"
_WHO_IS_DISABLED = """
    SELECT name, disabled_reason FROM trackers_credential
    WHERE %(endpoints)s::jsonb ? api AND disabled_at IS NOT NULL
      AND (%(only)s::bigint IS NULL OR id = %(only)s::bigint)
    ORDER BY disabled_at DESC LIMIT 1
"""

# Only what it did not allow keeps it from asking: it is not disabled.
_WHO_WAS_NOT_ALLOWED = """
    SELECT name, scopes FROM trackers_credential
    WHERE %(endpoints)s::jsonb ? api AND NOT scopes @> %(scopes)s::varchar[]
      AND (disabled_at IS NULL OR %(by_hand)s)
      AND (%(only)s::bigint IS NULL OR id = %(only)s::bigint)
      AND (%(project)s::bigint IS NULL OR app_id IN (
          SELECT id FROM trackers_app WHERE project_id = %(project)s::bigint))
    ORDER BY id LIMIT 1
"""


_HAS_BEARER = "SELECT 1 FROM trackers_credential WHERE kind = 'bearer' LIMIT 1"
# Its plan does not have the endpoint.
_WHOSE_PLAN_LACKS_IT = f"""
    SELECT c.name, w.endpoint, w.refused_reason FROM {USABLE}
    WHERE %(of_a_plan)s AND w.refused > 0 AND c.kind = 'bearer' AND c.disabled_at IS NULL
      AND (%(only)s::bigint IS NULL OR c.id = %(only)s::bigint)
      AND (%(project)s::bigint IS NULL OR a.project_id = %(project)s::bigint)
    ORDER BY c.id LIMIT 1
"""


def why_unavailable(
    params: Mapping[str, Any], unreadable: Mapping[int, str]
) -> NoRoom | NoCredential | None:
    """Why none was taken; None when one has room after all."""
    candidates = _room_again(params)
    if not candidates:
        if lacking := _first_row(_WHOSE_PLAN_LACKS_IT, params):
            return NoCredential(sentences.not_in_plan(*lacking), is_out_of_reach=True)
        if params["for_apps"] and not _first_row(_HAS_BEARER, params):
            return NoCredential(sentences.ONLY_FOR_APPS, is_out_of_reach=True)
        if row := _first_row(_WHO_WAS_NOT_ALLOWED, params):
            return NoCredential(_not_allowed(*row, endpoints=json.loads(params["endpoints"])))
        return NoCredential(advice(_first_row(_WHO_IS_DISABLED, params), unreadable))
    if any(candidate.may_ask for candidate in candidates):
        return None
    candidate = candidates[0]
    if all(other.is_refused for other in candidates):
        return NoCredential(
            sentences.refused(candidate.name, candidate.why, again=candidate.at, now=candidate.now)
        )
    if candidate.depleted:
        return NoRoom(candidate.at, sentences.depleted(candidate.depleted, candidate.why))
    if candidate.why:
        again = clock_time(candidate.at, now=candidate.now)
        why = candidate.why.rstrip(".")
        return NoRoom(candidate.at, f"{candidate.name}: {why}; checked again at {again}.")
    if candidate.has_room and params["a_second"]:
        return NoRoom(candidate.at, "X answers one such request in a second.")
    if candidate.has_room:
        return NoRoom(
            candidate.at,
            "Many tweets are due, so requests are spread over the rest of X's rate limit window.",
        )
    if candidate.is_awaited:
        return NoRoom(candidate.at, sentences.REPLY_AWAITED)
    who = (
        "The only credential has"
        if len(candidates) == 1
        else f"All {len(candidates)} credentials have"
    )
    return NoRoom(
        candidate.at,
        f"{who} used up what X allows; {candidate.name} may ask again at "
        f"{_opening_time(candidate)}.",
    )


def _opening_time(candidate: Candidate) -> str:
    """When X says that the window opens, and when we ask whether that is still so."""
    opens = candidate.opens or candidate.at
    time = clock_time(opens, now=candidate.now)
    if opens <= candidate.at:
        return time
    return f"{time}, unless X says otherwise at {clock_time(candidate.at, now=candidate.now)}"


def _not_allowed(name: str, scopes: Sequence[str], *, endpoints: Mapping[str, str]) -> str:
    closed = endpoints_closed_to(scopes)
    wanted = {at: closed[at] for at in endpoints.values() if at in closed}
    return f"{name}: {sentences.not_allowed(wanted)}"


def advice(disabled: tuple[Any, ...] | None, unreadable: Mapping[int, str]) -> str:
    if unreadable:
        return next(iter(unreadable.values()))
    return sentences.disabled(*disabled) if disabled else sentences.NONE_YET


def others_were_faster() -> NoRoom:
    """There was room each time, but others took it: the windows are nearly used up."""
    until = _first_row(_IN_A_MOMENT, {})
    assert until is not None
    return NoRoom(until[0], "Other workers took the last requests that X allows now.")


def _room_again(params: Mapping[str, Any]) -> list[Candidate]:
    """Each usable credential, the first that may ask again first."""
    with cursor() as db:
        return [Candidate(*row) for row in db.execute(_ROOM_AGAIN, params).fetchall()]


def _first_row(sql: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    with cursor() as db:
        return db.execute(sql, params).fetchone()
