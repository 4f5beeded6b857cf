"""A user signs in with X, and their tokens become a credential: OAuth 2 with PKCE.

begin ─> X's page ─ allowed ─> back here with a code ─> finish ─> tokens, encrypted
         address               state: it is this browser's    verifier: it is ours

What is kept in between is sealed with FIELD_KEYS, in the session of the person who began.
"""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from trackers.credentials.models import Credential
from trackers.credentials.renew import store_tokens
from trackers.credentials.secrets import (
    SecretUnreadableError,
    check_secrets,
    decrypt,
    encrypt,
)
from trackers.money.models import App
from trackers.xapi.endpoints import SIGN_IN_SCOPES
from trackers.xapi.errors import Refused, SignInAgain, XError
from trackers.xapi.keys import Secrets
from trackers.xapi.tokens import Tokens, first_tokens

_AUTHORIZE = "/i/oauth2/authorize"
_X_PAGES = "https://x.com"
_LASTS = timedelta(minutes=10)

NOT_BEGUN = "No sign-in was started in this browser, or it has already ended. Start again."
OTHER = "X's answer belongs to a different sign-in. Start again."
LATE = f"That took longer than {_LASTS.seconds // 60} minutes. Start again."
DENIED = "You did not allow it at X, so nothing was saved. Start again if that was a mistake."
_FAILED = "X ended the sign-in ({}). Check the app's settings at X, then start again."
_NO_CODE = "X sent no code. Start again."
CODE_EXPIRED = "X no longer accepts its code, which lasts 30 seconds. Start again."
UNKNOWN_CLIENT = (
    "X does not know this client ID with this secret. Check both in the app's settings "
    "at X, then start again."
)
_X_UNREACHABLE = "X could not be asked for the tokens: {}. Start again in a moment."
_NO_REFRESH = (
    "X sent no refresh token, so access would end in two hours. Allow offline access in "
    "the app's settings at X, then start again."
)
_GONE = (
    "The credential was removed in the meantime, so nothing was saved. Start again to "
    "add a new one."
)
_NAME_TAKEN = "There is already a credential of this name. Start again with another name."


class SignInError(Exception):
    """The sign-in failed; a sentence, and what to do."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A sign-in that was begun."""

    name: str
    app: str
    client_id: str
    redirect_uri: str
    begun_at: str
    # The id of the one whose tokens it replaces; empty: a new one, with this name and app.
    credential: str = ""
    client_secret: str = field(default="", repr=False)
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48), repr=False)

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return urlsafe_b64encode(digest).decode().rstrip("=")

    def address(self, *, base_url: str) -> str:
        """X's page that asks the user. No secret is in it: the challenge is a digest."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": " ".join(SIGN_IN_SCOPES),
            "state": self.state,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
        }
        return f"{base_url or _X_PAGES}{_AUTHORIZE}?{urlencode(asked)}"

    def sealed(self) -> str:
        return encrypt(asdict(self))

    def client(self) -> Secrets:
        given = {"client_id": self.client_id, "client_secret": self.client_secret}
        return Secrets({name: value for name, value in given.items() if value})


def open_pending(sealed: str) -> Pending:
    try:
        return Pending(**decrypt(sealed))
    except (SecretUnreadableError, TypeError):
        raise SignInError(NOT_BEGUN) from None


def finish_sign_in(
    sealed: str, answer: Mapping[str, str], *, now: datetime, base_url: str, timeout: timedelta
) -> Credential:
    """Complete a sign-in with X's answer; SignInError if it fails.

    Not to be called in a transaction: X is asked.
    """
    pending = open_pending(sealed)
    grant = Secrets(
        {
            "code": _code_in(answer, pending, now=now),
            "redirect_uri": pending.redirect_uri,
            "code_verifier": pending.verifier,
        }
    )
    try:
        tokens = first_tokens(pending.client(), grant, base_url=base_url, timeout=timeout)
    except SignInAgain:
        raise SignInError(CODE_EXPIRED) from None
    except Refused:
        raise SignInError(UNKNOWN_CLIENT) from None
    except XError as error:
        raise SignInError(_X_UNREACHABLE.format(str(error).rstrip("."))) from None
    if not tokens.secrets.get("refresh_token"):
        raise SignInError(_NO_REFRESH)
    return _store_signed_in(pending, tokens, now=now)


def _code_in(answer: Mapping[str, str], pending: Pending, *, now: datetime) -> str:
    state = answer.get("state", "")
    if not secrets.compare_digest(state.encode(), pending.state.encode()):
        raise SignInError(OTHER)
    if now - datetime.fromisoformat(pending.begun_at) > _LASTS:
        raise SignInError(LATE)
    if error := answer.get("error", ""):
        raise SignInError(DENIED if error == "access_denied" else _FAILED.format(error[:60]))
    if not (code := answer.get("code", "")):
        raise SignInError(_NO_CODE)
    return code


def _store_signed_in(pending: Pending, tokens: Tokens, *, now: datetime) -> Credential:
    """As a new credential, or in place of older tokens, which end then."""
    secrets = Secrets({**pending.client(), **tokens.secrets})
    try:
        check_secrets(Credential.Kind.OAUTH2, secrets)
        with transaction.atomic():
            credential = _target(pending)
            store_tokens(
                credential,
                secrets,
                lives=tokens.lives,
                since=now,
                # Where X names none, it is what was asked for (RFC 6749 §5.1).
                scopes=tokens.scopes or SIGN_IN_SCOPES,
            )
    except (ValidationError, IntegrityError) as error:
        if Credential.objects.filter(name=pending.name).exists() and not pending.credential:
            raise SignInError(_NAME_TAKEN) from None
        said = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        raise SignInError(said) from None
    return credential


def _target(pending: Pending) -> Credential:
    """Locks: the row of the credential that is signed in again."""
    if pending.credential:
        rows = Credential.objects.select_for_update(of=("self",)).defer("secrets")
        found = rows.filter(pk=int(pending.credential), kind=Credential.Kind.OAUTH2).first()
        if found is None:
            raise SignInError(_GONE)
        return found
    app = App.objects.named(pending.app or pending.name)
    return Credential(name=pending.name, kind=Credential.Kind.OAUTH2, app=app)


def begin_sign_in(
    *,
    name: str,
    app: str,
    client: Mapping[str, str],
    redirect_uri: str,
    now: datetime,
    again: Credential | None = None,
) -> Pending:
    return Pending(
        name=name,
        app=app,
        client_id=client["client_id"],
        client_secret=client.get("client_secret", ""),
        redirect_uri=redirect_uri,
        begun_at=now.astimezone(UTC).isoformat(),
        credential=str(again.pk) if again else "",
    )
