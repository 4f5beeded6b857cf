"""Where django-allauth asks us: who waits before a password is checked, where one goes after it,
and how a link for a new password is sent.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from trackers.dashboards.access import first_page
from trackers.jobs import ordinary
from trackers.tokens import wrong_logins
from trackers.tokens.wrong_logins import LoginAttempt, login_attempt
from tweetwatch.http.client_addresses import client_address

# Where something happened; what the next page shows anyway is not said.
_SENTENCES = {
    "account/messages/password_changed.txt": "Your password has been changed. Other browsers have "
    "been logged out.",
    "socialaccount/messages/account_connected.txt": "Your account has been linked.",
    "socialaccount/messages/account_connected_other.txt": "Nothing was linked: another account is "
    "linked with this one of the provider.",
    "mfa/messages/totp_activated.txt": "From now on logging in takes a code of your app.",
    "mfa/messages/totp_deactivated.txt": "The authenticator app is no longer a factor.",
    "mfa/messages/webauthn_added.txt": "The passkey has been added.",
    "mfa/messages/webauthn_removed.txt": "The passkey has been removed.",
    "mfa/messages/recovery_codes_generated.txt": "Keep the new recovery codes where you find them "
    "without this device. Older ones are refused.",
}
_TOO_MANY_TRIES = (
    "Too many wrong passwords. Try again in {seconds} s; this one was not checked. "
    "If you forgot it, an administrator can set a new one."
)


class AccountAdapter(DefaultAccountAdapter):
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "Please enter a correct username and password. Note that "
        "both fields may be case-sensitive.",
        "enter_current_password": "Your old password was entered incorrectly. Enter it again.",
        "incorrect_password": "The password is wrong.",
        "invalid_password_reset": "This link has been used, or is too old.",
    }

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Each try counts as wrong until it turns out to be right."""
        who = attempt_of(request, credentials.get("username", ""))
        wait_for(who)
        user = super().authenticate(request, **credentials)
        if user is not None:
            wrong_logins.clear_failures(who)
        return user

    def is_safe_url(self, url: str) -> bool:
        """Only where the person already is: other hosts of ours may be somebody else's."""
        request = context.request
        return url_has_allowed_host_and_scheme(
            url, {request.get_host()}, require_https=request.is_secure()
        )

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return first_page(request)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_client_ip(self, request: HttpRequest) -> str:
        # An address it must be, also where the proxy comes through a socket and names none.
        return client_address(request) or "::"

    def is_ajax(self, request: HttpRequest) -> bool:
        """Forms are answered with pages, whatever a client says that it takes; the script for
        passkeys asks here for what a passkey signs."""
        return request.method == "GET" and request.path == reverse("mfa_login_webauthn")

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if sentence := message or _SENTENCES.get(message_template or ""):
            messages.add_message(request, level, sentence)

    def send_password_reset_mail(
        self, user: AbstractBaseUser, email: str, context: dict[str, Any]
    ) -> None:
        """By a task: who asks, and may be anybody, holds no thread while the mail server answers,
        and does not learn from the time it takes who has an account. The task makes the link."""
        ordinary.enqueue("trackers.tasks.send_password_link", user.pk)


def attempt_of(request: HttpRequest | None, username: str) -> LoginAttempt:
    return login_attempt(username, client_address(request))


def wait_for(who: LoginAttempt) -> None:
    """Count the try, or refuse it unchecked. Raises ValidationError."""
    if wait := wrong_logins.count_attempt(who, now=timezone.now()):
        seconds = ceil(wait.total_seconds())
        raise ValidationError(_TOO_MANY_TRIES.format(seconds=seconds), code="wait")
