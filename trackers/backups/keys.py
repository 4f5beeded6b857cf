"""Which of FIELD_KEYS decrypt the secrets: stored in a backup, and checked before a restore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db.models import TextField
from django.db.models.functions import Cast

from trackers.credentials.rotation import encrypted
from trackers.tokens.factors import secrets_of_factors

_WORD = b"tweetwatch"


def locks() -> tuple[list[str], int]:
    """A token of each key that is in use, and how many secrets no key decrypts."""
    keys = [Fernet(key) for key in settings.FIELD_KEYS]
    # The first key is always in use: it encrypts new secrets.
    used, unreadable = {0}, 0
    for token in _tokens():
        opening = next((place for place, key in enumerate(keys) if _opens(key, token)), None)
        if opening is None:
            unreadable += 1
        else:
            used.add(opening)
    return [keys[place].encrypt(_WORD).decode() for place in sorted(used)], unreadable


def closed(locks: Sequence[str]) -> int:
    """How many of these none of our keys decrypts."""
    keys = [Fernet(key) for key in settings.FIELD_KEYS]
    return sum(not any(_opens(key, lock) for key in keys) for lock in locks)


def _opens(key: Fernet, token: str) -> bool:
    try:
        key.decrypt(token.encode())
    except InvalidToken:
        return False
    return True


def _tokens() -> Iterator[str]:
    """Every stored secret, still encrypted."""
    yield from secrets_of_factors()
    for model, fields in encrypted():
        for name in fields:
            yield from (
                model._default_manager.exclude(**{f"{name}__isnull": True})
                .annotate(stored_token=Cast(name, TextField()))
                .values_list("stored_token", flat=True)
            )
