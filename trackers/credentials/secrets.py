"""Secrets at rest: JSON encrypted with FIELD_KEYS, and what each kind of credential needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from trackers.xapi.keys import KEY, Secrets

# What each kind of credential is made of; the names of the commands' JSON.
NEEDS = {
    "bearer": ("bearer_token",),
    "oauth1": ("consumer_key", "consumer_secret", "access_token", "access_token_secret"),
    "oauth2": ("client_id", "access_token", "refresh_token"),
}
# What else one may have: an OAuth 2.0 client has a secret only if it is confidential.
MAY_HAVE = {"oauth2": ("client_secret",)}


class SecretUnreadableError(Exception):
    """A stored secret cannot be decrypted with any of FIELD_KEYS: was a key lost or replaced?"""

    def __init__(self) -> None:
        super().__init__(
            "A stored secret cannot be decrypted with any key in FIELD_KEYS. Put the key that "
            "encrypted it back at the end of FIELD_KEYS, or enter the secret again."
        )


def encrypt(secrets: Mapping[str, str]) -> str:
    return fernet(tuple(settings.FIELD_KEYS)).encrypt(json.dumps(dict(secrets)).encode()).decode()


def decrypt(token: str) -> Secrets:
    """What a stored token holds; SecretUnreadableError when none of FIELD_KEYS opens it."""
    return _decrypt_cached(tuple(settings.FIELD_KEYS), token)


# Each batch asks with a credential, and decrypting it takes as long as three statements.
@lru_cache(maxsize=64)
def _decrypt_cached(keys: tuple[str, ...], token: str) -> Secrets:
    try:
        plain = fernet(keys).decrypt(token.encode())
    except InvalidToken:
        raise SecretUnreadableError from None
    return Secrets(json.loads(plain))


@lru_cache(maxsize=4)
def fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


class EncryptedJSONField(models.Field):
    """A `Secrets` kept as one Fernet token; the first of FIELD_KEYS encrypts, any decrypts."""

    description = "Encrypted JSON"

    def get_internal_type(self) -> str:
        return "TextField"

    def from_db_value(self, value: str | None, *_: object) -> Secrets | None:
        return None if value is None else decrypt(value)

    def to_python(self, value: Any) -> Secrets | None:
        if value is None or isinstance(value, Secrets):
            return value
        if isinstance(value, Mapping):
            return Secrets(value)
        raise ValidationError("Secrets must be a JSON object of names and strings.")

    def get_prep_value(self, value: Any) -> str | None:
        secrets = self.to_python(value)
        return None if secrets is None else encrypt(secrets)

    def get_lookup(self, lookup_name: str) -> Any:
        # Encrypting one secret twice gives two tokens, so every comparison would be wrong.
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""


def check_secrets(kind: str, secrets: Mapping[str, str] | None) -> None:
    """Raise ValidationError that names what is missing or unexpected, but never a value."""
    needed, optional = NEEDS.get(kind), MAY_HAVE.get(kind, ())
    if needed is None:
        raise ValidationError(f"There is no kind of credential called {kind!r}.")
    values = dict(secrets or {})
    missing = [name for name in needed if not values.get(name)]
    if missing:
        names = ", ".join(missing)
        raise ValidationError(f"Enter the {names.replace('_', ' ')} ({names}).")
    if values.keys() - {*needed, *optional}:
        # Unknown names are not shown: if names and values are mixed up, one of them is a secret.
        known = " and ".join((*needed, *optional))
        raise ValidationError(f"A credential of kind {kind} has {known} only.")
    for name, value in values.items():
        if not isinstance(value, str) or not KEY.fullmatch(value):
            raise ValidationError(
                f"{name} contains white space or characters that X's keys never have."
            )
