"""The forms of django-allauth, with our words; wrong passwords make their sender wait."""

from __future__ import annotations

from typing import Any

from allauth.account import forms
from allauth.core import context
from django.conf import settings
from django.contrib.auth.models import User
from django.forms import Form

from trackers import history
from trackers.dashboards.account.adapter import attempt_of, wait_for
from trackers.history import on_page
from trackers.tokens import wrong_logins
from tweetwatch.servers import LoginProvider


def _without_placeholders(form: Form) -> None:
    """They repeat the labels."""
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


class LoginForm(forms.LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)
        self.fields["login"].widget.attrs |= {"autofocus": True, "autocapitalize": "none"}
        self.fields["password"].help_text = ""

    def add_prefix(self, field_name: str) -> str:
        """Programs and password managers know it by this name."""
        return super().add_prefix("username" if field_name == "login" else field_name)

    def provider(self) -> LoginProvider | None:
        return settings.LOGIN_PROVIDER

    def sends_mail(self) -> bool:
        """Whether a forgotten password can be replaced by a link."""
        return settings.EMAIL_SERVER is not None


class PasswordForm(forms.ChangePasswordForm):
    """Somebody who finds a signed-in browser must not guess the password here either."""

    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)
        self.fields["oldpassword"].label = "Old password"
        self.fields["oldpassword"].help_text = ""

    def clean_oldpassword(self) -> str:
        who = attempt_of(context.request, self.user.get_username())
        wait_for(who)
        password: str = super().clean_oldpassword()
        wrong_logins.clear_failures(who)
        return password

    def save(self) -> None:
        super().save()
        history.record(on_page(self.user), [self.user], "Changed their own password")


class ResetForm(forms.ResetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)


class NewPasswordForm(forms.ResetPasswordKeyForm):
    """For whoever has the link of an e-mail."""

    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)

    def save(self) -> None:
        super().save()
        history.record(on_page(self.user), [self.user], "Set a new password by a link in an e-mail")
