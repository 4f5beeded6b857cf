"""Authentication: the user of the token in a request, and what that user may do."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from ninja.errors import AuthorizationError, HttpError
from ninja.security.base import AuthBase

from trackers.timelines.watchers import homes_of, own
from trackers.tokens import api_tokens

STORE = "trackers.use_timeline_store"
HOMES = "home:"


class Bearer(AuthBase):
    """Ninja's own would log what it does not understand, which may be a token."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> User | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        return api_tokens.user_of(secret.strip(), now=timezone.now())


class SignedIn(AuthBase):
    """The logged-in person who may see tweets, for a call that a page makes. GET only: another site
    cannot read the answer, but it could trigger a change."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> User | None:
        user = request.user
        if not isinstance(user, User) or not user.is_active:
            return None
        return user if user.has_perm("trackers.view_tweet") else None


def user_of(request: HttpRequest) -> User:
    return cast(User, getattr(request, "auth"))  # noqa: B009 - ninja puts it there


def home_of(request: HttpRequest, watcher: str) -> int:
    """The watcher that is meant, if it is the user's own or that of one of the user's teams."""
    user = user_of(request)
    if watcher == "me":
        return own(user).pk
    number = int(watcher) if watcher.isascii() and watcher.isdigit() and len(watcher) < 19 else 0
    if number in {one.watcher_id for one in homes_of(user)}:
        return number
    raise HttpError(404, "There is no such home of yours.")


def store_user(request: HttpRequest) -> User:
    user = user_of(request)
    if not user.has_perm(STORE):
        raise AuthorizationError(message=f"The user of this token lacks the permission {STORE}.")
    return user


def may_write(request: HttpRequest, *names: str) -> None:
    """Refuses if any of them is a home: only the feeds write those."""
    store_user(request)
    for name in names:
        if name.startswith(HOMES):
            raise AuthorizationError(message=f"{HOMES} is kept for homes, which are not written.")


def may_read(request: HttpRequest, *names: str) -> None:
    """Refuses all homes but the user's own."""
    user = store_user(request)
    homes = {name for name in names if name.startswith(HOMES)}
    if homes and homes - {f"{HOMES}{one.watcher_id}" for one in homes_of(user)}:
        raise AuthorizationError(message="That home is not yours.")
