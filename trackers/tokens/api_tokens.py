"""Tokens of the API, which have a user: created and presented."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from trackers.tokens.models import ApiToken
from trackers.tokens.secret import digest_of, new_secret

# A token in use would otherwise cost a write with each request.
_USED_EVERY = timedelta(hours=1)


def save_token(token: ApiToken) -> str:
    """Save a new one and return its secret, which is shown only once."""
    secret = new_secret()
    token.digest = digest_of(secret)
    token.save()
    return secret


def authenticate_token(secret: str, *, now: datetime) -> ApiToken | None:
    """The token, with its user; None if it or its user is no longer allowed."""
    tokens = ApiToken.objects.filter(digest=digest_of(secret), revoked_at=None)
    token = tokens.filter(user__is_active=True).select_related("user").first()
    if token is None:
        return None
    unused = Q(used_at=None) | Q(used_at__lt=now - _USED_EVERY)
    if token.used_at is None or token.used_at < now - _USED_EVERY:
        ApiToken.objects.filter(unused, pk=token.pk).update(used_at=now)
    return token
