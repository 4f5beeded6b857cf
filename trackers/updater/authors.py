"""Names of new authors, and why X does not show us an author's tweets.

X bills an account more than a post, so each is requested once, and again only when one of its
tweets is hidden: only the users endpoint distinguishes protected from suspended.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta

from trackers.credentials import selection
from trackers.credentials.preflight import keys_for
from trackers.money import ledger
from trackers.money.balances import read_balances
from trackers.tweets.authors import authors_to_ask, store_names
from trackers.xapi import client
from trackers.xapi.endpoints import ACCOUNTS
from trackers.xapi.errors import XError

logger = logging.getLogger(__name__)

_ACCOUNTS_PER_REQUEST = 100
_REQUESTS_A_ROUND = 10


def ask_authors(*, base_url: str, timeout: timedelta) -> int:
    """Ask X for unknown authors, stopping at the first refusal; return how many it described."""
    described = 0
    for _ in range(_REQUESTS_A_ROUND):
        ids = authors_to_ask(limit=_ACCOUNTS_PER_REQUEST)
        if not ids:
            break
        selected = selection.select_credential(ACCOUNTS)
        if not isinstance(selected, selection.Selection):
            break
        balance = next(
            own_balance
            for own_balance in read_balances()
            if own_balance.project == selected.project
        )
        if not ledger.reserve_users(balance, len(ids)):
            selection.cancel(selected)
            logger.info("%d authors wait for money", len(ids))
            break
        try:
            with keys_for(selected, base_url=base_url, timeout=timeout) as keys:
                answer = client.look_up_accounts(keys, ids, base_url=base_url, timeout=timeout)
        except XError as error:
            selection.settle_failed(selected, error)
            ledger.settle_users(
                balance, reserved=len(ids), users=len(ids) if error.maybe_billed else 0
            )
            logger.warning("authors could not be looked up yet: %s", error)
            break
        selection.settle_answered(selected, answer.window)
        ledger.settle_users(balance, reserved=len(ids), users=len(answer.accounts))
        store_names(ids, answer.accounts.values(), suspended=_suspended_ids(answer.missing))
        described += len(answer.accounts)
    return described


def _suspended_ids(missing: Mapping[int, str]) -> list[int]:
    return [id for id, reason in missing.items() if reason == "suspended"]
