"""Resolves a username or an id to an account, once; from then on the account's id is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.credentials import selection
from trackers.credentials.preflight import keys_for
from trackers.ingest.polls.next_sweep import NO_DELAY
from trackers.ingest.polls.reservation import Wait, first_room, until_tomorrow
from trackers.ingest.polls.row_lock import end_claim, held
from trackers.ingest.polls.state import Polling
from trackers.ingest.polls.trouble import back_off, is_known, put_off
from trackers.ingest.sources.anew import begin_anew
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.naming import account_id, username
from trackers.ingest.sources.source_events import publish_hidden
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from trackers.money import ledger
from trackers.money.balances import Balance, read_balances
from trackers.xapi.client import look_up_accounts
from trackers.xapi.endpoints import ACCOUNTS, USERNAMES
from trackers.xapi.errors import Garbage, XError
from trackers.xapi.keys import Keys
from trackers.xapi.timelines import Named, look_up_username

# A name that X does not show may return, or a person may correct a typo.
_UNKNOWN_WAIT = timedelta(hours=1)
_UNKNOWN_ACCOUNT_REASONS: Mapping[str, str] = {
    "not_found": "X has no account with this {}.",
    "suspended": "X has suspended the account with this {}.",
}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Whose account is asked for, and how."""

    id: int | None
    username: str

    @classmethod
    def of(cls, source: Source) -> _Wanted:
        """As a person named it; raises ValueError, with a sentence, for an invalid username."""
        id = account_id(source.of)
        return cls(id, "" if id else username(source.of))

    @property
    def endpoint(self) -> Mapping[str, str]:
        return USERNAMES if self.id is None else ACCOUNTS

    @property
    def what(self) -> str:
        return "name" if self.id is None else "number"

    def look_up(self, keys: Keys, polling: Polling) -> Named:
        base_url, timeout = polling.base_url, polling.timeout
        if self.id is None:
            return look_up_username(keys, self.username, base_url=base_url, timeout=timeout)
        answer = look_up_accounts(keys, [self.id], base_url=base_url, timeout=timeout)
        missing = answer.missing.get(self.id)
        return Named(answer.accounts.get(self.id), missing, answer.window)


def resolve(batch: Batch, source: Source, polling: Polling, *, now: datetime) -> str:
    """Look up whose name or id it is, and poll the account at once; returns a sentence about it.

    Raises ValueError, with a sentence, for an invalid username.
    """
    wanted = _Wanted.of(source)
    asked = _reserve_account_lookup(wanted.endpoint, now=now)
    if isinstance(asked, Wait):
        put_off(batch, source, asked, None, now=now)
        return asked.because
    selected, balance = asked
    try:
        with keys_for(selected, base_url=polling.base_url, timeout=polling.timeout) as keys:
            named = wanted.look_up(keys, polling)
    except XError as error:
        selection.settle_failed(selected, error)
        ledger.settle_users(balance, reserved=1, users=int(error.maybe_billed))
        if is_known(error):
            queue.release(batch)
        else:
            _fail(batch, source, error)
        return error.reason
    selection.settle_answered(selected, named.window)
    ledger.settle_users(balance, reserved=1, users=int(named.account is not None))
    return _store_account(batch, source, named, wanted, now=now)


def _reserve_account_lookup(
    endpoint: Mapping[str, str], *, now: datetime
) -> tuple[selection.Selection, Balance] | Wait:
    """A request, and the money for one account."""
    usable = [balance for balance in read_balances() if balance.usable]
    shut: list[selection.NoRoom | selection.NoCredential] = []
    for balance in usable:
        selected = selection.select_credential(endpoint, project=balance.project)
        if not isinstance(selected, selection.Selection):
            shut.append(selected)
        elif ledger.reserve_users(balance, 1):
            return selected, balance
        else:
            selection.cancel(selected)
    if usable and not shut:
        return until_tomorrow(usable, now=now)
    if not shut:
        selected = selection.select_credential(endpoint)
        if isinstance(selected, selection.Selection):
            selection.cancel(selected)
            selected = selection.NoCredential("A credential was enabled just now.")
        shut.append(selected)
    return first_room(shut, now=now)


def _store_account(
    batch: Batch, source: Source, named: Named, wanted: _Wanted, *, now: datetime
) -> str:
    """Store what X said about the name or id."""
    if named.account is None and named.missing is None:
        _fail(batch, source, Garbage("X's answer does not mention the account."))
        return "X's answer does not mention the account."
    with held(batch, source) as row:
        if row is None:
            return "changed in the meantime"
        if named.account is not None:
            if row.was_account_id not in (None, named.account.id):
                begin_anew(row, was_of=row.was_of, now=now)
            row.was_account_id, row.was_of = None, ""
            row.account_id, row.username = named.account.id, named.account.username
            publish_hidden(row.pk, row.hidden_reason, "")
            row.hidden_reason = row.problem = ""
            row.failures = 0
            end_claim(batch, row, NO_DELAY)
            return f"is account {named.account.id}"
        publish_hidden(row.pk, row.hidden_reason, named.missing or "")
        row.hidden_reason = named.missing or ""
        row.problem = _UNKNOWN_ACCOUNT_REASONS.get(
            row.hidden_reason, "X does not show the account with this {}."
        ).format(wanted.what)
        row.poll_at = now + _UNKNOWN_WAIT
        end_claim(batch, row, _UNKNOWN_WAIT)
        return row.problem


def _fail(batch: Batch, source: Source, error: XError) -> None:
    with held(batch, source) as row:
        if row is not None:
            end_claim(batch, row, back_off(row, error))
