"""Tokens of OAuth 2.0 are renewed before they expire: by one worker at a time across all hosts.

lease, committed ─> ask X, no transaction open ─> both tokens saved and the lease ended, one commit

X takes a refresh token once. A worker that dies between X's answer and the commit leaves a lease
that runs out, and a spent token: the next renewal is refused, and a person has to sign in again.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Least, Now

from trackers.credentials.health import MAX_COOLDOWN, note_refusal
from trackers.credentials.models import RENEWAL, Credential
from trackers.jobs import task_time
from trackers.xapi.errors import NotReady, RateLimited, Refused, SignInAgain, Unavailable, XError
from trackers.xapi.keys import Secrets
from trackers.xapi.tokens import Tokens, new_tokens
from tweetwatch.database import retry_while_lost

logger = logging.getLogger(__name__)

_RENEWED_BEFORE_END = timedelta(minutes=1)
# Beyond the request's own timeout: time for a slow name server, and for a database to come back.
_LEASE_OUTLASTS_REQUEST = timedelta(seconds=30)
_RETRY_FIRST, _RETRY_MOST = timedelta(seconds=2), timedelta(minutes=5)
_SIGN_IN_AGAIN = "sign in again"


@dataclass(frozen=True, slots=True)
class NotRenewed:
    """It cannot ask now."""

    why: str
    refused: bool = False  # not until a person acts


@dataclass(frozen=True, slots=True)
class RenewalLease:
    """The right to renew."""

    credential: Credential  # as it was when this was granted
    begun_at: datetime
    until: datetime  # it ends then

    @property
    def spends(self) -> str:
        return self.credential.secrets["refresh_token"]


@contextmanager
def tokens_of(credential: Credential, *, base_url: str, timeout: timedelta) -> Iterator[Credential]:
    """The credential to ask with; NotReady when it cannot, or its token has expired."""
    asking = ensure_valid(credential, base_url=base_url, timeout=timeout)
    if isinstance(asking, NotRenewed):
        raise NotReady(asking.why, sent=False)
    try:
        yield asking
    except Refused as error:
        if not lapse(asking, error):
            raise
    else:
        return
    raise NotReady("Its access token has expired and is being renewed.", sent=True)


def ensure_valid(
    credential: Credential, *, base_url: str, timeout: timedelta
) -> Credential | NotRenewed:
    """The credential with tokens that last; only OAuth 2.0 needs a query, or a renewal.

    Not to be called in a transaction: X may be asked. `timeout` is for that one exchange.
    """
    if credential.kind != Credential.Kind.OAUTH2:
        return credential
    rows = Credential.objects.annotate(
        due=Q(expires_at__lte=Now() + _RENEWED_BEFORE_END), marked=Q(refreshing_until__gt=Now())
    )
    current = rows.filter(pk=credential.pk).first()
    if current is None:
        return NotRenewed("It was removed.")
    if current.marked:
        return NotRenewed(current.renewal_problem or "Another worker is renewing its tokens.")
    if not current.due:
        # The current row: another worker may have renewed it since it was taken.
        return current
    return _renew(current, base_url=base_url, timeout=timeout)


def _renew(credential: Credential, *, base_url: str, timeout: timedelta) -> Credential | NotRenewed:
    """The credential with new tokens, committed; unless another worker renews it or X refuses."""
    if task_time.reply_by() < time.monotonic() + timeout.total_seconds():
        # The task could end after the refresh token is spent and before the new one is saved.
        return NotRenewed("Its tokens will be renewed by a task that has time for it.")
    lease = take_lease(credential, lasts=timeout + _LEASE_OUTLASTS_REQUEST)
    if lease is None:
        return NotRenewed("Another worker is renewing its tokens.")
    try:
        tokens = new_tokens(lease.credential.secrets, base_url=base_url, timeout=timeout)
    except SignInAgain as error:
        return _give_up(lease, error)
    except XError as error:
        return _postpone(lease, error)
    # These tokens are the only ones left, so keep trying even if the database is away for a while.
    # That is why the lease outlasts the request; we try as long as the task has time.
    until = time.monotonic() + _LEASE_OUTLASTS_REQUEST.total_seconds()
    return retry_while_lost(
        lambda: store_renewed(lease, tokens), until=min(until, task_time.ends_at())
    )


def take_lease(credential: Credential, *, lasts: timedelta) -> RenewalLease | None:
    """The right to renew for this long; None when another has it, or has just renewed."""
    # Durable: fails inside an open transaction, which would hide the lease from the others.
    with transaction.atomic(durable=True):
        ours = Credential.objects.filter(
            Q(refreshing_until=None) | Q(refreshing_until__lte=Now()),
            pk=credential.pk,
            expires_at__lte=Now() + _RENEWED_BEFORE_END,
        ).update(refreshing_until=Now() + lasts, renewal_problem="")
        if ours != 1:
            return None
        found = Credential.objects.annotate(begun_at=Now()).get(pk=credential.pk)
        assert found.refreshing_until is not None
        return RenewalLease(found, found.begun_at, found.refreshing_until)


def store_renewed(lease: RenewalLease, tokens: Tokens) -> Credential | NotRenewed:
    """Saves both tokens and their expiry, and ends the lease, in one commit.

    They are kept however late they come, even if another worker was meanwhile refused with the
    old token, which is spent. They never replace tokens that a person has entered.
    """
    with transaction.atomic(durable=True):
        current = _locked(lease.credential)
        if current is None:
            return NotRenewed("It was removed.")
        if current.secrets.get("refresh_token") != lease.spends:
            return current
        secrets = Secrets({**current.secrets, **tokens.secrets})
        # Where X names none, they are as before (RFC 6749 §6).
        scopes = current.scopes if tokens.scopes is None else tokens.scopes
        store_tokens(current, secrets, lives=tokens.lives, since=lease.begun_at, scopes=scopes)
    logger.info(
        "credential %s has new tokens until %s",
        current,
        current.expires_at,
        extra={"credential": current.name},
    )
    return current


def store_tokens(
    credential: Credential,
    secrets: Secrets,
    *,
    lives: timedelta | None,
    since: datetime,
    scopes: Sequence[str] | None,
) -> None:
    """New tokens, in place of any older ones. Where only those were missing, it is used again."""
    credential.secrets = secrets
    credential.clear_renewals()
    credential.scopes = None if scopes is None else list(scopes)
    credential.expires_at = None if lives is None else since + lives
    if credential.pk is None:
        credential.full_clean()
        credential.save(force_insert=True)
        return
    credential.save(update_fields=["secrets", *RENEWAL])
    if credential.disabled_reason.startswith(_SIGN_IN_AGAIN):
        credential.enable()


def _give_up(lease: RenewalLease, error: XError) -> NotRenewed:
    """Disable it, unless a person has entered other tokens or another worker has kept new ones."""
    why = f"{_SIGN_IN_AGAIN}: X no longer accepts its refresh token ({error})"[:300]
    with transaction.atomic(durable=True):
        current = _locked(lease.credential)
        if current is None or current.secrets.get("refresh_token") != lease.spends:
            return NotRenewed("Its tokens were replaced in the meantime.")
        current.clear_renewals()
        # If a person enables it unchanged, it is tried once more.
        current.expires_at = lease.credential.expires_at
        current.save(update_fields=RENEWAL)
        current.disable(why, now=lease.begun_at)
    logger.warning(
        "credential %s is disabled: %s", current, why, extra={"credential": current.name}
    )
    return NotRenewed(why, refused=True)


def _postpone(lease: RenewalLease, error: XError) -> NotRenewed:
    """Leave it alone for a while, longer each time; X may merely be failing."""
    why = f"X sent no new tokens: {error}"[:300]
    wait = _wait_after(lease, error)
    Credential.objects.filter(pk=lease.credential.pk, refreshing_until=lease.until).update(
        refreshing_until=Now() + wait,
        renewals_failed=Least(F("renewals_failed") + 1, 32767),
        renewal_problem=why,
    )
    logger.warning(
        "credential %s will not be used for %.0f s: %s",
        lease.credential,
        wait.total_seconds(),
        why,
        extra={"credential": lease.credential.name},
    )
    if isinstance(error, Refused):
        note_refusal(lease.credential, error, because=why)
    return NotRenewed(why, refused=isinstance(error, Refused))


def _wait_after(lease: RenewalLease, error: XError) -> timedelta:
    """Doubles with every failure in a row, and is at least what X asks for, up to MAX_COOLDOWN."""
    doublings = min(lease.credential.renewals_failed, 20)
    wait = min(_RETRY_FIRST * 2**doublings, _RETRY_MOST) * random.uniform(0.8, 1.2)
    asked_by_x = error.retry_after if isinstance(error, Unavailable | RateLimited) else None
    if asked_by_x is None and isinstance(error, RateLimited) and error.resets_at is not None:
        asked_by_x = error.resets_at - lease.begun_at
    return wait if asked_by_x is None else max(wait, min(asked_by_x, MAX_COOLDOWN))


def lapse(credential: Credential, error: Refused) -> bool:
    """Whether a refusal only means that the access token has expired; the next use then renews it.

    That is believed only once: if the new token is refused too before any request was accepted,
    the fault is the credential's, or X's for a while. So the first one counts as a refusal as well.
    """
    if credential.kind != Credential.Kind.OAUTH2 or error.status != 401:
        return False
    with transaction.atomic():
        current = _locked(credential)
        if current is None:
            return False
        if current.secrets.get("access_token") != credential.secrets["access_token"]:
            return True
        if current.refreshing_until is not None and current.refreshing_until > current.now:
            return True
        if current.refused:
            # Another worker may have found this while we waited for the row: it is due anyway.
            ends = current.expires_at
            return ends is not None and ends <= current.now + _RENEWED_BEFORE_END
        current.expires_at = current.refused_since = current.now
        # Not `retry_at`: with new tokens it is tried at once.
        current.refused, current.refused_reason = 1, error.reason[:300]
        current.save(update_fields=["expires_at", "refused", "refused_since", "refused_reason"])
    return True


def _locked(credential: Credential) -> Any:
    """Its row, locked until the transaction ends, with the database's clock as `now`."""
    rows = Credential.objects.select_for_update().annotate(now=Now())
    return rows.filter(pk=credential.pk).first()
