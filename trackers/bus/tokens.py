"""Tokens of the bus: created, listed, revoked. Only their digests are kept."""

from __future__ import annotations

import secrets

from django.db import IntegrityError, transaction

from trackers.bus.answers import malformed
from trackers.bus.fields import NewToken, is_name
from trackers.events.models import BusToken, Subscriber
from trackers.events.spread import spread_all
from trackers.events.subscribers.subscribe import remove
from trackers.tokens.secret import digest_of

# Separates the name from the secret in tokens that are generated here.
MARK = "--"
SHOWN = 4


def make(given: NewToken) -> str:
    """Save a new token and return it in full, which is not possible later."""
    token = given.token or f"{stem(given.name)}{MARK}{secrets.token_hex(16)}"
    if BusToken.objects.filter(name=given.name).exists():
        raise malformed(f"There is already a token called {given.name}.")
    try:
        BusToken.objects.create(
            name=given.name, digest=digest_of(token), begins=begins(token, given.name)
        )
    except IntegrityError:
        raise malformed("This token or name exists already.") from None
    return token


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
    if not is_name(token_or_name):
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
