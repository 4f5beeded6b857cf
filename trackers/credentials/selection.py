"""Which credential asks next.

select ─> a Selection ─> a request with its credential ─> settle ─> accept, or refuse

The credential with the most room in its window goes first (`windows`); a disabled one never.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connection

from trackers.credentials import health, learning, windows
from trackers.credentials.health import note_acceptance
from trackers.credentials.models import Credential
from trackers.credentials.secrets import SecretUnreadableError, decrypt
from trackers.credentials.unavailable import (
    NoCredential,
    NoRoom,
    advice,
    others_were_faster,
    why_unavailable,
)
from trackers.credentials.windows import LOADED, Reservation, Reserved
from trackers.jobs import holds
from trackers.jobs.models import TWEET_UPDATE
from trackers.money import depletion
from trackers.xapi.endpoints import LOOKUP_BY_IDS
from trackers.xapi.errors import Depleted, Forbidden, NotShown, Refused, XError
from trackers.xapi.results import WindowSeen
from tweetwatch.database import DatabaseClock, cursor
from tweetwatch.statements import statement

__all__ = [
    "NoCredential",
    "NoRoom",
    "Selection",
    "cancel",
    "cancel_all",
    "select_credential",
    "select_several",
    "settle_all_answered",
    "settle_answer",
    "settle_answered",
    "settle_failed",
    "why_nobody_may",
]


@dataclass(frozen=True, slots=True)
class Selection:
    """One request with this credential, reserved. It must be settled, or it counts as lost."""

    credential: Credential
    reservation: Reservation
    project: int
    # time.monotonic() from just before it was reserved.
    reserved_at: float
    depletions: int = 0
    # A person tries it: what X refuses then is shown, and counts once, however often it is tried.
    by_hand: bool = False

    @property
    def clock(self) -> DatabaseClock:
        """The database's time, as of the reservation."""
        return DatabaseClock(self.reservation.at, self.reserved_at)


_ATTEMPTS = 5
_CANCEL = statement(__file__, "cancel")


def select_credential(
    endpoint_of: Mapping[str, str] = LOOKUP_BY_IDS,
    *,
    only: int | None = None,
    project: int | None = None,
    spread: bool = False,
    by_hand: bool = False,
) -> Selection | NoRoom | NoCredential:
    """Reserve a request to an endpoint with the credential that has the most room.

    `endpoint_of` names the endpoint per version of the API (trackers.xapi.endpoints). Skipped are
    credentials of other versions, and any whose secrets cannot be decrypted.
    `only`: with this credential or none. `project`: with one of its credentials or none. `spread`:
    wait a while when the rest of a window is spread over its remaining time. `by_hand`: even
    where X asked to be left alone.
    """
    asking = partial(
        windows.reservation_params,
        endpoint_of,
        only=only,
        project=project,
        spread=spread,
        by_hand=by_hand,
    )
    taken = _select_first(1, asking, {})
    return taken if isinstance(taken, NoRoom | NoCredential) else taken[0]


def select_several(
    most: int,
    *,
    project: int | None = None,
    spread: bool = False,
    endpoint_of: Mapping[str, str] = LOOKUP_BY_IDS,
) -> Sequence[Selection] | NoRoom | NoCredential:
    """Reserve between one and `most` requests, each as `select_credential` would.

    In one statement, as many as fit the window with the most room; then from the next window, and
    so on. Only one where requests are spread, or where one tests for all.
    """
    asking = partial(
        windows.reservation_params, endpoint_of, only=None, project=project, spread=spread
    )
    unreadable: dict[int, str] = {}
    taken = _select_first(most, asking, unreadable)
    if isinstance(taken, NoRoom | NoCredential):
        return taken
    # Each credential once, so that one request tests those that need it. One such request is
    # enough.
    asked = {*unreadable, taken[0].credential.pk}
    while len(taken) < most:
        reserved_at = time.monotonic()
        wanted = asking(most=most - len(taken), without=asked, trusted=True)
        reserved = windows.reserve_at_once(wanted)
        if reserved is None:
            break
        asked.add(reserved.credential[0])
        taken += _selections_of(reserved, unreadable, reserved_at=reserved_at)
    return taken


def _select_first(
    most: int, asking: Callable[..., Mapping[str, Any]], unreadable: dict[int, str]
) -> list[Selection] | NoRoom | NoCredential:
    """Selections of one credential, `most` of them if it has room; or why there are none.

    `unreadable`: credentials to skip, and why; newly found ones are added.
    """
    for _ in range(_ATTEMPTS):
        params = asking(most=most, without=unreadable)
        reserved_at = time.monotonic()
        reserved = windows.reserve_requests(params)
        if reserved is None:
            if windows.know(params):
                continue
            why = why_unavailable(params, unreadable)
            if why is not None:
                return why
            continue
        by_hand = params["by_hand"]
        if taken := _selections_of(reserved, unreadable, reserved_at=reserved_at, by_hand=by_hand):
            return taken
    if unreadable:
        return NoCredential(advice(None, unreadable))
    return others_were_faster()


def _selections_of(
    reserved: Reserved, unreadable: dict[int, str], *, reserved_at: float, by_hand: bool = False
) -> list[Selection]:
    """One for each request; none, and nothing reserved, if the secrets cannot be decrypted."""
    try:
        credential = _load_credential(reserved.credential)
    except SecretUnreadableError as error:
        _cancel(reserved.requests)
        id, name, *_ = reserved.credential
        unreadable[id] = f"{name}: {error}"
        return []
    return [
        Selection(credential, one, reserved.project, reserved_at, reserved.depletions, by_hand)
        for one in reserved.requests
    ]


def why_nobody_may(endpoint_of: Mapping[str, str]) -> str:
    """Why no credential can ask there before a person acts; empty if one can."""
    params = windows.reservation_params(endpoint_of, only=None, without=())
    windows.know(params)
    why = why_unavailable(params, {})
    return why.why if isinstance(why, NoCredential) else ""


def settle_answer(selected: Selection, window: WindowSeen | None) -> None:
    """X answered, and its keys are valid: learn from the reply; None when it said nothing."""
    learning.settle_all([(selected.reservation, window)], answered=True)
    if note_acceptance(selected.credential):
        holds.end_hold(TWEET_UPDATE)


def settle_answered(selected: Selection, window: WindowSeen | None) -> None:
    """X gave what was asked for: its keys are valid, and its project has money."""
    settle_all_answered([(selected, window)])


def settle_all_answered(answers: Sequence[tuple[Selection, WindowSeen | None]]) -> None:
    """X gave what was asked for in all of these requests.

    Locks: windows, credentials, projects, each kind in the order of ids; then a queue.
    """
    learning.settle_all([(selected.reservation, seen) for selected, seen in answers], answered=True)
    credentials = {selected.credential.pk: selected.credential for selected, _ in answers}
    accepted_again = [note_acceptance(one) for _, one in sorted(credentials.items())]
    had_no_money = {
        (selected.project, selected.credential.app_id)
        for selected, _ in answers
        if selected.depletions
    }
    for _, app in sorted(had_no_money):
        depletion.end_depletion(app)
    if had_no_money or any(accepted_again):
        # Other requests may have found this: look-ups, for example, by a poll.
        holds.end_hold(TWEET_UPDATE)


def cancel(selected: Selection) -> None:
    """The request is not sent after all."""
    cancel_all([selected])


def cancel_all(selections: Iterable[Selection]) -> None:
    """None of these requests is sent after all."""
    selections = list(selections)
    _cancel([selected.reservation for selected in selections])
    for selected in selections:
        if selected.credential.refused and not selected.by_hand:
            health.give_try_back(selected.credential)


def _cancel(reservations: Sequence[Reservation]) -> None:
    params = {
        "windows": [reservation.window_id for reservation in reservations],
        "times": [reservation.at for reservation in reservations],
    }
    with cursor() as db:
        db.execute(_CANCEL, params)


def settle_failed(selected: Selection, error: XError) -> None:
    """Learn from an error; a request that was never sent does not count.

    A refusal of its keys, and a project that has run out of money, stop all requests like it.
    """
    if isinstance(error, Forbidden):
        health.record_endpoint_refusal(
            selected.reservation,
            name=selected.credential.name,
            because=error.reason,
            by_hand=selected.by_hand,
        )
    elif isinstance(error, Refused):
        health.note_refusal(selected.credential, error, by_hand=selected.by_hand)
    if isinstance(error, Forbidden | NotShown | Depleted):
        # X knows whose keys these are.
        note_acceptance(selected.credential)
    if error.sent and (cooldown := health.cooldown_after(error)):
        # First, or another worker would find room in a window that is to be left alone.
        health.start_cooldown(selected.reservation, cooldown, because=error.reason)
    if error.sent:
        # For the credential, "not shown" is an answer.
        answered = isinstance(error, NotShown)
        learning.settle_all([(selected.reservation, error.window)], answered=answered)
    else:
        cancel(selected)
    if isinstance(error, Depleted):
        depletion.mark_depleted(selected.credential.app_id, error, now=selected.clock.now())


def _load_credential(row: Sequence[Any]) -> Credential:
    values = dict(zip(LOADED, row, strict=True))
    values["secrets"] = decrypt(values["secrets"])
    return Credential.from_db(connection.alias, LOADED, list(values.values()))
