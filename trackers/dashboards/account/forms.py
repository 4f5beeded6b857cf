"""The forms that ask for a password: wrong ones make their sender wait."""

from __future__ import annotations

from math import ceil
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone

from trackers.tokens import wrong_logins
from trackers.tokens.wrong_logins import LoginAttempt

_TOO_MANY_TRIES = (
    "Too many wrong passwords. Try again in {seconds} s; this one was not checked. "
    "If you forgot it, an administrator can set a new one."
)


class LoginForm(AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        who = wrong_logins.login_attempt(
            self.cleaned_data.get("username", ""), _client_address(self.request)
        )
        _wait_for(who)
        cleaned = super().clean()
        if self.get_user() is not None:
            wrong_logins.clear_failures(who)
        return cleaned


class PasswordForm(PasswordChangeForm):
    """Somebody who finds a signed-in browser must not guess the password here either."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.who = wrong_logins.login_attempt(self.user.get_username(), _client_address(request))

    def clean_old_password(self) -> str:
        _wait_for(self.who)
        password: str = super().clean_old_password()
        wrong_logins.clear_failures(self.who)
        return password


def _wait_for(who: LoginAttempt) -> None:
    """Each try counts as wrong until it turns out to be right."""
    if wait := wrong_logins.count_attempt(who, now=timezone.now()):
        seconds = ceil(wait.total_seconds())
        raise ValidationError(_TOO_MANY_TRIES.format(seconds=seconds), code="wait")


def _client_address(request: HttpRequest | None) -> str:
    """The client's address; behind a proxy, the one that it added to the end of its header."""
    if request is None:
        return ""
    if settings.BEHIND_PROXY and (via := request.headers.get("X-Forwarded-For")):
        return via.rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))
