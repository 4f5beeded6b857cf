"""Tokens of the bus: created, listed, revoked. Only their digests are kept."""

from __future__ import annotations

import secrets

from django.db import IntegrityError, transaction

from trackers.events.models import BusToken, Subscriber
from trackers.events.spread import spread_all
from trackers.events.subscribers.rules import NAME, NAME_RULE
from trackers.events.subscribers.subscribe import remove
from trackers.outbox.models import OURS
from trackers.tokens.secret import digest_of

# Separates the name from the secret in tokens that are generated here.
MARK = "--"
SHOWN = 4


def make(name: str, token: str | None = None) -> str:
    """Save a new token, generated unless it is given, and return it: it is shown only once.

    Raises ValueError with a sentence.
    """
    check_name(name)
    if token is None:
        token = f"{stem(name)}{MARK}{secrets.token_hex(16)}"
    elif not NAME.fullmatch(token):
        raise ValueError(f"token {NAME_RULE}")
    if BusToken.objects.filter(name=name).exists():
        raise ValueError(f"There is already a token called {name}.")
    try:
        BusToken.objects.create(name=name, digest=digest_of(token), begins=begins(token, name))
    except IntegrityError:
        raise ValueError("This token or name exists already.") from None
    return token


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(f"name {NAME_RULE}")
    if name == OURS:
        raise ValueError(f"The name {OURS} is reserved for this program's own topics.")


def stem(name: str) -> str:
    """How a generated token begins. Some clients accept only 64 characters, and no colon."""
    return name.replace(":", "-")[:30]


def begins(token: str, name: str) -> str:
    """The first characters of its secret part, but never more than a quarter of it.

    In a token that begins with its name, as generated ones do, the secret follows the name:
    clients tell tokens apart by this.
    """
    named = stem(name) + MARK
    if token.startswith(named):
        return MARK + first_of(token.removeprefix(named))
    return "" if token.startswith(MARK) else first_of(token)


def first_of(secret: str) -> str:
    return secret[: min(SHOWN, len(secret) // 4)]


def shown(token: BusToken) -> str:
    """The beginning of the token, by which a person recognises it."""
    known = token.begins
    return f"{stem(token.name) if known.startswith(MARK) else ''}{known}…"


def find(token_or_name: str) -> BusToken | None:
    if not NAME.fullmatch(token_or_name):
        return None
    by_token = BusToken.objects.filter(digest=digest_of(token_or_name)).first()
    return by_token or BusToken.objects.filter(name=token_or_name).first()


def revoke(token_or_name: str) -> bool:
    """Delete it, its subscriber and what waits for that one; return whether it existed."""
    with transaction.atomic():
        spread_all()
        token = find(token_or_name)
        if token is None:
            return False
        for subscriber in Subscriber.objects.filter(token=token):
            remove(subscriber)
        token.delete()
    return True
