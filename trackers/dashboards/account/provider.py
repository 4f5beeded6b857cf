"""Logging in at an OpenID Connect provider: whose claim gives a role gets an account, and the role
follows the claim at each login. An account that is there is linked by its owner alone.
"""

from __future__ import annotations

import logging
from functools import wraps
from threading import BoundedSemaphore
from typing import Any, cast

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.defaults import permission_denied

from trackers import history, roles
from trackers.dashboards.access import ViewFunction, permission_givers
from trackers.history import by_provider
from trackers.tokens import acts
from tweetwatch.servers import LoginProvider

logger = logging.getLogger(__name__)

# Each holds a thread while the provider answers, and anybody may begin one.
_MAX_WAITING = 2


class ProviderAdapter(DefaultSocialAccountAdapter):
    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: Any) -> User:
        """Of all claims the role that they give is kept, and what an account has a field for."""
        role = _role_by_claims(sociallogin.account.extra_data)
        sociallogin.account.extra_data = {} if role is None else {"role": role}
        user: User = super().populate_user(request, sociallogin, data)
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        # Our accounts have one e-mail address, which is no way in.
        sociallogin.email_addresses = []
        user = cast(User, sociallogin.user)
        if sociallogin.state.get("process") == "connect" or not sociallogin.is_existing:
            return
        _follow_claim(user, _role_of(sociallogin))
        if not (user.is_superuser or roles.roles_of(user)):
            raise ImmediateHttpResponse(_refuse(request))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        if _role_of(sociallogin) is None:
            raise ImmediateHttpResponse(_refuse(request))
        return True

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        role = _role_of(sociallogin)
        assert role is not None
        roles.give(user, role)
        what = f"Added as {role} by its first login"
        history.record(by_provider(user, _provider().name), [user], what, flag=history.ADDITION)
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("account")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        # Never the exception's text: it may quote a token.
        kind = type(exception).__name__ if exception else error
        logger.warning("a login at the provider of logins failed: %s", kind)


def _provider() -> LoginProvider:
    return cast(LoginProvider, settings.LOGIN_PROVIDER)


def _role_of(sociallogin: SocialLogin) -> str | None:
    role: str | None = sociallogin.account.extra_data.get("role")
    return role


def _role_by_claims(data: dict[str, Any]) -> str | None:
    return _provider().role_for({**data.get("id_token", {}), **data.get("userinfo", {})})


def _follow_claim(user: User, role: str | None) -> None:
    if roles.roles_of(user) == ([role] if role else []):
        return
    if roles.is_last_giver(user) and not user.is_superuser:
        logger.warning("%s keeps the role owner: nobody else can give one", user.get_username())
        return
    acts.set_role(user, role, by_provider(user, _provider().name))


def _refuse(request: HttpRequest) -> HttpResponse:
    provider = _provider()
    return permission_denied(
        request,
        PermissionDenied(
            f"{provider.name} knows you, but its claim “{provider.claim}” gives you no role here. "
            f"Ask {permission_givers()}, or whoever manages your groups there."
        ),
    )


def few_at_once(view: ViewFunction) -> ViewFunction:
    places = BoundedSemaphore(_MAX_WAITING)

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not places.acquire(blocking=False):
            return render(request, "429.html", status=429)
        try:
            return view(request, *args, **kwargs)
        finally:
            places.release()

    return guarded
