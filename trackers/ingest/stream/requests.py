"""One request for the stream, in its turn: with which credential, and whether it has money."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol, TypeVar

from trackers.credentials import selection, sentences
from trackers.credentials.models import Credential
from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.backoff import at_most_a_window
from trackers.ingest.stream.lease import Lease
from trackers.ingest.stream.settings import Settings
from trackers.jobs import pausing
from trackers.money.balances import read_balances
from trackers.xapi.endpoints import STREAM
from trackers.xapi.errors import Forbidden, XError
from trackers.xapi.results import WindowSeen
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# How often our tables are read for what a person changed.
RECHECK_INTERVAL = timedelta(seconds=5)


class Windowed(Protocol):
    @property
    def window(self) -> WindowSeen | None: ...


Answer = TypeVar("Answer", bound=Windowed)


class NoTurnError(Exception):
    """No request is allowed for `wait`, and why.

    `may_end_early`: if a person acts, which our tables show without a request to X.
    """

    def __init__(self, why: str, wait: timedelta, *, may_end_early: bool = True) -> None:
        super().__init__(why)
        self.why, self.wait, self.may_end_early = why, wait, may_end_early


@dataclass(frozen=True, slots=True)
class Payer:
    """The credential that listens, and the project that pays."""

    credential: int
    name: str
    project: int


_WHO = statement(__file__, "credential", endpoint=STREAM["v2"])


def payer() -> Payer:
    """Who listens; NoTurnError when none can or may, or there is no money."""
    _check_pause()
    with cursor() as db:
        row = db.execute(_WHO).fetchone()
    if row is None:
        raise NoTurnError(sentences.none_enabled() or sentences.NO_BEARER, RECHECK_INTERVAL)
    id, name, project, stopped_for, because, project_name = row
    if stopped_for is not None:
        raise NoTurnError(sentences.depleted(project_name, because), RECHECK_INTERVAL)
    found = Payer(id, name, project)
    _check_money(found)
    return found


# Removed counts as disabled.
_IS_ENABLED = "SELECT FROM trackers_credential WHERE id = %(id)s AND disabled_at IS NULL"


def check_payer(who: Payer) -> None:
    """NoTurnError when it may no longer listen: paused, disabled, removed, or out of money."""
    _check_pause()
    with cursor() as db:
        is_enabled = db.execute(_IS_ENABLED, {"id": who.credential}).fetchone() is not None
    if not is_enabled:
        # Another one may continue: the next look finds it, or says that there is none.
        raise NoTurnError(f"{who.name} is disabled.", RECHECK_INTERVAL)
    _check_money(who)


def _check_pause() -> None:
    """NoTurnError while a person has paused everything."""
    if pausing.paused_all():
        raise NoTurnError(pausing.ALL_PAUSED, RECHECK_INTERVAL)


def _check_money(who: Payer) -> None:
    """NoTurnError when the day's tweet-days, or dollars, are used up.

    A stream's posts are not requested one by one, so nothing can be reserved.
    """
    for balance in read_balances():
        if balance.project == who.project and balance.left is not None and balance.left <= 0:
            again = balance.next_day()
            why = sentences.spent([balance.name], again=again, now=balance.now)
            raise NoTurnError(why, max(timedelta(0), again - balance.now))


def ask_in_turn(
    endpoint_of: Mapping[str, str],
    who: Payer,
    send: Callable[[Credential], Answer],
    *,
    is_optional: bool = False,
) -> Answer:
    """Send one request with this credential, in its turn, and update the books.

    XError as `send` raises it; NoTurnError when the window has no room. `is_optional`: that the
    app's plan lacks the endpoint is held against nothing.
    """
    selected = selection.select_credential(endpoint_of, only=who.credential)
    if isinstance(selected, selection.NoRoom):
        left = at_most_a_window(selected.until - datetime.now(UTC))
        wait = max(left, timedelta(seconds=1))
        raise NoTurnError(selected.why, wait, may_end_early=False)
    if isinstance(selected, selection.NoCredential):
        raise NoTurnError(selected.why, RECHECK_INTERVAL)
    try:
        answer = send(selected.credential)
    except XError as error:
        if is_optional and isinstance(error, Forbidden):
            selection.settle_answer(selected, error.window)
        else:
            selection.settle_failed(selected, error)
        raise
    selection.settle_answered(selected, answer.window)
    return answer


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks X about rules for the process that has the lease: one request at a time, in its turn."""

    settings: Settings
    lease: Lease
    who: Payer

    def ask(
        self,
        endpoint_of: Any,
        send: Callable[..., Answer],
        *,
        is_optional: bool = False,
        **fields: Any,
    ) -> Answer:
        """Renews the lease first, so that each of several requests in a row has its full length."""
        stream_lease.renew(self.lease)
        asking = self.settings.asking
        how = {"base_url": asking.base_url, "timeout": asking.timeout}
        sent = partial(send, **fields, **how)
        return ask_in_turn(endpoint_of, self.who, sent, is_optional=is_optional)
