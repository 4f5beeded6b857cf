"""Which credential asks next.

take ─> a Turn ─> a request with its credential ─> settle ─> accept, or refuse

The one with the most room in its window goes first (trackers.xapi.windows); a disabled one never.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from trackers.xapi import stops, windows
from trackers.xapi.answers import WindowSeen
from trackers.xapi.endpoints import TWEETS
from trackers.xapi.errors import Depleted, Refused, XError
from trackers.xapi.models import Credential
from trackers.xapi.secrets import SecretUnreadableError, decrypt
from trackers.xapi.standing import accept, refuse
from trackers.xapi.windows import Reservation
from tweetwatch.database import cursor

__all__ = [
    "NoCredential",
    "NoRoom",
    "Turn",
    "accept",
    "answered",
    "cancel",
    "refuse",
    "settle",
    "settle_failed",
    "take",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """One request with this credential, reserved. It must be settled, or it counts as lost."""

    credential: Credential
    reservation: Reservation
    project: int
    stops: int = 0


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Every credential has used up its window; `until` the first of them has room again."""

    until: datetime
    why: str


@dataclass(frozen=True, slots=True)
class NoCredential:
    """There is none that may be used. `why` says what a person has to do."""

    why: str


LOADED = ("id", "name", "kind", "api", "app_id", "secrets", "refused")
ATTEMPTS = 5
# By the database's clock, as every hold: this host's may be an hour off.
IN_A_MOMENT = "SELECT now() + interval '1 second'"
WHO_IS_DISABLED = """
    SELECT name, disabled_because FROM trackers_credential
    WHERE %(endpoints)s::jsonb ? api AND disabled_at IS NOT NULL
      AND (%(only)s::bigint IS NULL OR id = %(only)s::bigint)
    ORDER BY disabled_at DESC LIMIT 1
"""


def take(
    endpoint_of: Mapping[str, str] = TWEETS,
    *,
    only: int | None = None,
    project: int | None = None,
) -> Turn | NoRoom | NoCredential:
    """Reserve a request to an endpoint with the credential that has the most room.

    `endpoint_of` names the endpoint per version of the API (trackers.xapi.endpoints); credentials
    of other versions are passed over. One whose secrets cannot be decrypted is passed over too.
    `only`: with this credential or none. `project`: with one of its credentials or none.
    """
    unreadable: dict[int, str] = {}
    for _ in range(ATTEMPTS):
        params = windows.given(endpoint_of, only=only, project=project, without=unreadable)
        found = windows.reserve(params)
        if found is None:
            if windows.know(params):
                continue
            why = why_nobody(params, unreadable)
            if why is not None:
                return why
            continue
        reservation, row = found
        *of_credential, payer, stopped = row
        try:
            return Turn(loaded(of_credential), reservation, payer, stopped)
        except SecretUnreadableError as error:
            windows.cancel(reservation)
            unreadable[row[0]] = f"{row[1]}: {error}"
    if unreadable:
        return NoCredential(advice(None, unreadable))
    # Others were faster each time, so that the windows are nearly used up.
    until = first(IN_A_MOMENT, {})
    assert until is not None
    return NoRoom(until[0], "Other workers have the last requests of the windows.")


def settle(turn: Turn, window: WindowSeen | None) -> None:
    """Learn from the reply; None when it said nothing of the window, or there was none."""
    windows.settle(turn.reservation, window)


def answered(turn: Turn, window: WindowSeen | None) -> None:
    """X gave what was asked for: its keys are good, and its project has money."""
    settle(turn, window)
    accept(turn.credential)
    if turn.stops:
        stops.go_on(turn.credential)


def cancel(turn: Turn) -> None:
    """The request is not sent after all."""
    windows.cancel(turn.reservation)


def settle_failed(turn: Turn, error: XError, *, now: datetime | None = None) -> None:
    """Learn from what went wrong; what was never sent does not count.

    `now`: refusals, and a project that has run out of money, are counted too.
    """
    if now and isinstance(error, Refused):
        refuse(turn.credential, str(error), now=now)
    if now and isinstance(error, Depleted):
        stops.stop(turn.credential, error, now=now)
    if error.sent:
        windows.settle(turn.reservation, error.window)
    else:
        windows.cancel(turn.reservation)


def first(sql: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    with cursor() as db:
        return db.execute(sql, params).fetchone()


def loaded(row: Sequence[Any]) -> Credential:
    values = dict(zip(LOADED, row, strict=True))
    values["secrets"] = decrypt(values["secrets"])
    return Credential.from_db(connection.alias, LOADED, list(values.values()))


def why_nobody(
    params: Mapping[str, Any], unreadable: Mapping[int, str]
) -> NoRoom | NoCredential | None:
    """Why none was taken; None when one has room after all."""
    found = windows.room_again(params)
    if not found:
        return NoCredential(advice(first(WHO_IS_DISABLED, params), unreadable))
    if any(has_room for _, has_room, _, _ in found):
        return None
    name, _, at, why = found[0]
    if why:
        return NoRoom(at, f"{name}: {why}; looked at again at {at:%H:%M:%S} UTC.")
    who = "The only credential has" if len(found) == 1 else f"All {len(found)} credentials have"
    return NoRoom(at, f"{who} used up what X allows; {name} may ask again at {at:%H:%M:%S} UTC.")


def advice(disabled: tuple[Any, ...] | None, unreadable: Mapping[int, str]) -> str:
    if unreadable:
        return next(iter(unreadable.values()))
    if disabled:
        name, because = disabled
        return (
            f"No credential is enabled ({name}: {because or 'disabled by hand'}). "
            f"See what is wrong with `manage.py credential check`, then `credential enable {name}`."
        )
    return (
        "There is no credential for X yet. Add one in the admin, or with "
        "`manage.py credential add NAME --kind bearer`."
    )
