"""Where django-allauth asks us about second factors: their secrets, their names, and who may give
one up.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

from allauth.core import context
from allauth.mfa import signals
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base import forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase

from trackers import history, roles
from trackers.credentials.secrets import SecretUnreadableError
from trackers.dashboards.access import ViewFunction
from trackers.dashboards.account.adapter import attempt_of, wait_for
from trackers.history import on_page
from trackers.tokens import wrong_logins
from trackers.tokens.factors import decrypt_secret, encrypt_secret
from trackers.tokens.ways_in import is_last_way
from trackers.tokens.wrong_logins import factor_of

_LAST_FACTOR = "Your account must have a second factor. Add another one before you remove this one."
_LAST_WAY = (
    "This passkey is the only way in which you can log in. Add another one, or a password, before "
    "you remove it."
)
_NAMES: dict[str, str] = {
    Authenticator.Type.TOTP: "an authenticator app",
    Authenticator.Type.WEBAUTHN: "a passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}


class FactorAdapter(DefaultMFAAdapter):
    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "This code or passkey is not the right one. A code of an app lasts for "
        "half a minute, and is taken once.",
        "cannot_delete_authenticator": _LAST_FACTOR,
    }

    def encrypt(self, text: str) -> str:
        return encrypt_secret(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return decrypt_secret(encrypted_text)
        except SecretUnreadableError:
            raise ValidationError(
                "Codes cannot be checked: the key that encrypted them is not in FIELD_KEYS. Tell "
                "whoever runs this server, or use a passkey.",
                code="unreadable",
            ) from None

    def get_totp_issuer(self) -> str:
        return f"tweetwatch {self._get_site_name()}"

    def generate_authenticator_name(self, user: AbstractBaseUser, type: Any) -> str:
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return f"Passkey {count + 1}"

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        user = authenticator.user
        if is_last_way(user, authenticator.pk):
            return False
        if not (settings.SECOND_FACTOR and roles.gives_access(user)):
            return True
        others = Authenticator.objects.filter(user=user).exclude(pk=authenticator.pk)
        return others.exclude(type=Authenticator.Type.RECOVERY_CODES).exists()


def keeps_needed(view: ViewFunction) -> ViewFunction:
    """For the page that removes a passkey: django-allauth asks about apps alone."""

    @wraps(view)
    def guarded(request: HttpRequest, pk: int) -> HttpResponseBase:
        passkey = Authenticator.objects.filter(user=cast(User, request.user), pk=pk).first()
        if passkey is not None and not FactorAdapter().can_delete_authenticator(passkey):
            is_last = is_last_way(passkey.user, pk)
            raise PermissionDenied(_LAST_WAY if is_last else _LAST_FACTOR)
        return view(request, pk=pk)

    return guarded


class _SlowedCode(forms.BaseAuthenticateForm):
    """Wrong codes make their sender wait, as wrong passwords do, and are counted apart from them:
    whoever knows the password could clear its count between two guesses."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code"
        self.fields["code"].help_text = "Of your authenticator app, or one of your recovery codes."
        self.fields["code"].widget.attrs.pop("placeholder", None)
        self.fields["code"].widget.attrs |= {"autofocus": True, "inputmode": "numeric"}

    def clean_code(self) -> str:
        who = attempt_of(context.request, factor_of(self.user.get_username()))
        wait_for(who)
        code: str = super().clean_code()
        wrong_logins.clear_failures(who)
        return code


class CodeForm(_SlowedCode, forms.AuthenticateForm):
    pass


class ConfirmingCodeForm(_SlowedCode, forms.ReauthenticateForm):
    pass


class AppForm(ActivateTOTPForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "The code that the app shows"
        self.fields["code"].widget.attrs.pop("placeholder", None)


class PasskeyForm(AddWebAuthnForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = "For you to recognize it, such as “phone” or “office”."
        alone = self.fields["passwordless"]
        alone.label, alone.initial = "Log in with it alone, without name and password", True
        alone.help_text = "It then asks for its PIN, or for your finger or face."


@receiver(signals.authenticator_added)
def _record_added(user: User, authenticator: Authenticator, **_: Any) -> None:
    history.record(on_page(user), [user], f"Added {_NAMES[authenticator.type]} to log in with")


@receiver(signals.authenticator_removed)
def _record_removed(user: User, authenticator: Authenticator, **_: Any) -> None:
    history.record(on_page(user), [user], f"Removed {_NAMES[authenticator.type]}")


@receiver(signals.authenticator_reset)
def _record_new_codes(user: User, **_: Any) -> None:
    history.record(on_page(user), [user], "Made new recovery codes")
