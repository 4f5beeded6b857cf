"""By what a person logs in: nobody gives up the last way by mistake."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from tweetwatch.servers import LoginProvider


def _links(user: User) -> QuerySet[Any]:
    # By its name: without django-allauth (`manage.py bus`) its module cannot be imported.
    rows = apps.get_model("socialaccount", "SocialAccount").objects
    return rows.filter(user_id=user.pk, provider=LoginProvider.id)


def is_linked(user: User) -> bool:
    """Whether this person can log in at the provider of logins."""
    return settings.LOGIN_PROVIDER is not None and _links(user).exists()


def unlink(user: User) -> int:
    """Returns how many links there were."""
    return _links(user).delete()[0]


def gets_in_here(user: User, *, without: int = 0) -> bool:
    """Whether this person can log in without the provider: by a password, or by a passkey that
    needs none. `without`: the factor that they are about to remove, if any."""
    if user.has_usable_password():
        return True
    passkeys = apps.get_model("mfa", "Authenticator").objects.filter(
        user_id=user.pk, type="webauthn"
    )
    return any(one.wrap().is_passwordless for one in passkeys.exclude(pk=without))


def is_last_way(user: User, factor: int) -> bool:
    """Whether this person logs in by this factor alone."""
    return not is_linked(user) and gets_in_here(user) and not gets_in_here(user, without=factor)
