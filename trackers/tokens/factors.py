"""Second factors of people, which django-allauth keeps (`allauth.mfa`): who needs one, and what of
them is a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cryptography.fernet import InvalidToken
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from trackers import roles
from trackers.credentials.secrets import SecretUnreadableError, fernet

# What `Authenticator.data` has under these names is encrypted; of passkeys, only the public half
# is here.
_SECRETS = ("secret", "seed")


def encrypt_secret(text: str) -> str:
    return fernet(tuple(settings.FIELD_KEYS)).encrypt(text.encode()).decode()


def decrypt_secret(token: str) -> str:
    """Raises SecretUnreadableError."""
    try:
        return fernet(tuple(settings.FIELD_KEYS)).decrypt(token.encode()).decode()
    except InvalidToken:
        raise SecretUnreadableError from None


def _factors() -> QuerySet[Any]:
    # By its name: without django-allauth (`manage.py bus`) its module cannot be imported.
    return apps.get_model("mfa", "Authenticator").objects.all()


def secrets_of_factors() -> Iterator[str]:
    """Each, as it is stored."""
    for data in _factors().order_by("pk").values_list("data", flat=True):
        yield from (data[name] for name in _SECRETS if name in data)


def encrypt_factors_anew() -> int:
    """In the caller's transaction. Raises SecretUnreadableError."""
    count = 0
    for factor in _factors().select_for_update().order_by("pk"):
        for name in _SECRETS:
            if name in factor.data:
                factor.data[name] = encrypt_secret(decrypt_secret(factor.data[name]))
                count += 1
        factor.save(update_fields=["data"])
    return count


def lacks_factor(user: User | AnonymousUser) -> bool:
    """Whether this person must add a second factor before anything else."""
    if not (settings.SECOND_FACTOR and user.is_authenticated and roles.gives_access(user)):
        return False
    # Codes for recovery come with another one, and are none by themselves.
    return not _factors().filter(user_id=user.pk).exclude(type="recovery_codes").exists()


def remove_factors(user: User) -> int:
    """Delete them all; returns how many there were."""
    return _factors().filter(user_id=user.pk).delete()[0]
