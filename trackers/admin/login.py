"""The form that lets people in: wrong passwords make whoever sends them wait."""

from __future__ import annotations

from math import ceil
from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone

from trackers.tokens import wrong_logins

WAIT = "Too many wrong passwords. Try again in {seconds} s; this one was not checked."


class LoginForm(AdminAuthenticationForm):
    def clean(self) -> dict[str, Any]:
        who = wrong_logins.tried(self.cleaned_data.get("username", ""), address_of(self.request))
        now = timezone.now()
        if wait := wrong_logins.wait_of(who, now=now):
            seconds = ceil(wait.total_seconds())
            raise ValidationError(WAIT.format(seconds=seconds), code="wait")
        try:
            cleaned = super().clean()
        except ValidationError:
            wrong_logins.fail(who, now=now)
            raise
        if self.get_user() is not None:
            wrong_logins.succeed(who)
        return cleaned


def address_of(request: HttpRequest | None) -> str:
    """Where it comes from: behind a proxy what that says, which adds to the end of its header."""
    if request is None:
        return ""
    if settings.BEHIND_PROXY and (via := request.headers.get("X-Forwarded-For")):
        return via.rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))
