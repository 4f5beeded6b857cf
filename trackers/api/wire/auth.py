"""Authentication: the user of the token in a request, and what that user may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from ninja import Status
from ninja.errors import AuthorizationError, HttpError
from ninja.security.base import AuthBase

from trackers.acts import Act, Done
from trackers.history import Actor, by_api
from trackers.timelines.followers import homes_of, may_use, own
from trackers.tokens import rate_limit
from trackers.tokens.factors import lacks_factor
from trackers.tokens.models import READ_SCOPE, SCOPES, WRITE_SCOPE, ApiToken
from trackers.tokens.rate_limit import RateUse
from tweetwatch.http.bodies import receive_body
from tweetwatch.http.refusals import Refused

# Of the pages that show the same.
VIEW_TWEETS, VIEW_SOURCES = "trackers.view_tweet", "trackers.view_source"
_USE_TIMELINE_STORE = "trackers.use_timeline_store"
HOMES = "home:"


class Bearer(AuthBase):
    """A token: of any scope for what only looks, and of the scope `changes` for what changes.

    Ninja's own would log what it does not understand, which may be a token.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, *, changes: ApiToken.Scope = WRITE_SCOPE) -> None:
        super().__init__()
        self.changes = changes

    def __call__(self, request: HttpRequest) -> User | None:
        token = token_of(request)
        if token is None:
            return None
        count_against_limit(request, token)
        needed = READ_SCOPE if request.method in ("GET", "HEAD") else self.changes
        if SCOPES.index(token.scope) < SCOPES.index(needed):
            raise Refused(
                403, f"This requires a token with the scope {needed}; this one has {token.scope}."
            )
        receive_body(request)
        return token.user


def token_of(request: HttpRequest) -> ApiToken | None:
    """The token of the request, if it is valid; looked up once."""
    known: dict[str, Any] = request.__dict__
    if "api_token" not in known:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        is_token = scheme.lower() == "bearer" and bool(secret)
        known["api_token"] = (
            ApiToken.objects.authenticate(secret.strip(), now=timezone.now()) if is_token else None
        )
    token: ApiToken | None = known["api_token"]
    return token


def count_against_limit(request: HttpRequest, token: ApiToken) -> None:
    """Count the request, once, and refuse it where the token has made too many in this minute."""
    if not settings.API_RATE_LIMIT or use_of(request):
        return
    use = rate_limit.count_request(token.pk, most=settings.API_RATE_LIMIT)
    request.__dict__["api_use"] = use
    if use.is_over:
        raise Refused(
            429,
            f"This token has made its {use.most:,} requests for this minute. Try again in "
            f"{use.seconds} s, as the header Retry-After says.",
        )


def use_of(request: HttpRequest) -> RateUse | None:
    use: RateUse | None = request.__dict__.get("api_use")
    return use


class SignedIn(AuthBase):
    """The logged-in person who may see tweets, for a call that a page makes. GET only: another site
    cannot read the answer, but it could trigger a change."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    # Each installation has an ending of its own.
    openapi_name = "tweetwatch_session"

    def __call__(self, request: HttpRequest) -> User | None:
        user = request.user
        if not isinstance(user, User) or not user.is_active:
            return None
        return user if user.has_perm(VIEW_TWEETS) and not lacks_factor(user) else None


def user_of(request: HttpRequest) -> User:
    return cast(User, getattr(request, "auth"))  # noqa: B009 - ninja puts it there


def require_permission(request: HttpRequest, permission: str) -> User:
    """The user of the request, who has the permission."""
    user = user_of(request)
    if not user.has_perm(permission):
        raise AuthorizationError(
            message=f"The user of this token lacks the permission {permission}."
        )
    return user


def actor_of(request: HttpRequest, permission: str) -> Actor:
    """Who acts by this request: its user, who has the permission."""
    return by_api(require_permission(request, permission))


def act_on(
    request: HttpRequest, act: Act, find: Callable[[Any], Any], key: object, **also: Any
) -> Done:
    """Do the act to the thing that `find` finds, once its permission is there. `also`: what the
    act takes besides."""
    actor = actor_of(request, act.permission)
    return act.do(find(key), actor, **also)


def acted(
    request: HttpRequest,
    act: Act,
    find: Callable[[Any], Any],
    key: object,
    *,
    idempotent: bool = True,
    **also: Any,
) -> Status:
    """The empty answer of an act; 409 if nothing was done and that is not as good."""
    done = act_on(request, act, find, key, **also)
    if not (done.is_done or idempotent):
        raise Refused(409, done.message)
    return Status(204, None)


def home_of(request: HttpRequest, follower: str) -> int:
    """The follower that is meant, if it is the user's own or that of one of the user's teams."""
    user = require_permission(request, VIEW_TWEETS)
    if follower == "me":
        return own(user).pk
    number = (
        int(follower) if follower.isascii() and follower.isdigit() and len(follower) < 19 else 0
    )
    if may_use(user, number):
        return number
    raise HttpError(404, "You have no such home.")


def _store_user(request: HttpRequest) -> User:
    return require_permission(request, _USE_TIMELINE_STORE)


def require_write(request: HttpRequest, *names: str) -> None:
    """Refuses if any of them is a home: only the feeds write those."""
    _store_user(request)
    for name in names:
        if name.startswith(HOMES):
            raise AuthorizationError(
                message=f"{HOMES} is reserved for homes, which cannot be written."
            )


def require_read(request: HttpRequest, *names: str) -> None:
    """Refuses all homes but the user's own."""
    user = _store_user(request)
    homes = {name for name in names if name.startswith(HOMES)}
    if not homes:
        return
    require_permission(request, VIEW_TWEETS)
    if homes - {f"{HOMES}{home.follower_id}" for home in homes_of(user)}:
        raise AuthorizationError(message="That home is not yours.")
