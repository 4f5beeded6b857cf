"""Tokens of the bus, which have no user: created, listed, found. Only their digests are kept.

A client may have several, all under its name, as while one replaces another.
"""

from __future__ import annotations

import secrets

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from trackers.events.subscribers.rules import NAME, NAME_RULE
from trackers.outbox.models import OUR_PUBLISHER
from trackers.tokens.models import ApiToken
from trackers.tokens.secret import digest_of

# Separates the name from the secret in tokens that are generated here.
_SEPARATOR = "--"
_LETTERS_SHOWN = 4
CLIENT, ROOT = ApiToken.Scope.BUS, ApiToken.Scope.ROOT


def bus_tokens() -> QuerySet[ApiToken]:
    """Root's included, by name."""
    return ApiToken.objects.filter(scope__in=[CLIENT, ROOT]).order_by("name")


def make_token(
    name: str, token: str | None = None, *, scope: ApiToken.Scope = CLIENT
) -> tuple[ApiToken, str]:
    """Save a new token, generated unless it is given; return its row, and the token itself.

    Raises ValueError with a sentence.
    """
    _check_name(name)
    if token is None:
        token = f"{_token_stem(name)}{_SEPARATOR}{secrets.token_hex(16)}"
    elif not NAME.fullmatch(token):
        raise ValueError(f"token {NAME_RULE}")
    # Who sees a name in the history must know whose it is.
    if bus_tokens().filter(name=name).exclude(scope=scope).exists():
        whose = "a client's" if scope == ROOT else "root's"
        raise ValueError(f"There is already a token called {name}, and it is {whose}.")
    try:
        with transaction.atomic():
            row = ApiToken.objects.create(
                name=name,
                scope=scope,
                digest=digest_of(token),
                begins=_token_beginning(token, name),
            )
    except IntegrityError:
        raise ValueError("This token exists already.") from None
    return row, token


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(f"name {NAME_RULE}")
    if name == OUR_PUBLISHER:
        raise ValueError(f"The name {OUR_PUBLISHER} is reserved for this program's own topics.")


def _token_stem(name: str) -> str:
    """How a generated token begins. Some clients accept only 64 characters, and no colon."""
    return name.replace(":", "-")[:30]


def _token_beginning(token: str, name: str) -> str:
    """The first characters of its secret part, but never more than a quarter of it.

    In a token that begins with its name, as generated ones do, the secret follows the name:
    clients tell tokens apart by this.
    """
    named = _token_stem(name) + _SEPARATOR
    if token.startswith(named):
        return _SEPARATOR + _first_letters(token.removeprefix(named))
    return "" if token.startswith(_SEPARATOR) else _first_letters(token)


def _first_letters(secret: str) -> str:
    return secret[: min(_LETTERS_SHOWN, len(secret) // 4)]


def masked_token(token: ApiToken) -> str:
    """The beginning of the token, by which a person recognises it."""
    known = token.begins
    return f"{_token_stem(token.name) if known.startswith(_SEPARATOR) else ''}{known}…"


def find_client_tokens(token_or_name: str) -> list[ApiToken]:
    """That token, or else all of the client of that name."""
    if not NAME.fullmatch(token_or_name):
        return []
    clients = bus_tokens().filter(scope=CLIENT)
    by_token = list(clients.filter(digest=digest_of(token_or_name)))
    return by_token or list(clients.filter(name=token_or_name))
