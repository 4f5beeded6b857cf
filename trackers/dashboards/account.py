"""Logging in and out, one's own password, and what one's account may do. Wrong passwords make their
sender wait.
"""

from __future__ import annotations

from ipaddress import ip_address
from math import ceil
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator

from trackers import history
from trackers.dashboards.access import FIRST_PAGES, first_page, is_signed_in, permission_givers
from trackers.history import on_page
from trackers.roles import roles_of
from trackers.tokens import wrong_logins
from trackers.tokens.wrong_logins import LoginAttempt
from tweetwatch import VERSION

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
    """The client's address; behind a proxy, the one that it added to the end of its header, or
    the proxy's own if that is none."""
    if request is None:
        return ""
    via = request.headers.get("X-Forwarded-For", "") if settings.BEHIND_PROXY else ""
    return _address_in(via.rpartition(",")[2]) or str(request.META.get("REMOTE_ADDR", ""))


def _address_in(text: str) -> str:
    """Without the port that some proxies add, and that differs each time."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text))
    except ValueError:
        return ""


class LogIn(views.LoginView):
    """For our pages, and for the admin. `?over`: the session is over; `?lost`: and what was sent
    was not carried out."""

    form_class = LoginForm
    template_name = "dashboards/account/login.html"
    redirect_authenticated_user = True

    def get_default_redirect_url(self) -> str:
        return first_page(self.request)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        asked = self.request.GET
        return super().get_context_data(over="over" in asked, lost="lost" in asked, **context)


@method_decorator(login_not_required, name="dispatch")
class LogOut(views.LogoutView):
    def get_default_redirect_url(self) -> str:
        return reverse("login")


class Password(views.PasswordChangeView):
    form_class = PasswordForm
    template_name = "dashboards/account/password.html"
    success_url = reverse_lazy("account")

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        user = cast(User, self.request.user)
        history.record(on_page(user), [user], "Changed their own password")
        messages.success(
            self.request, "Your password has been changed. Other browsers have been logged out."
        )
        return answer


def account(request: HttpRequest) -> HttpResponse:
    """Who one is here, and what that allows."""
    user = cast(User, request.user)
    context = {
        "roles": roles_of(user),
        "may_nothing": not any(map(user.has_perm, FIRST_PAGES.values())),
        "givers": permission_givers(),
        "version": VERSION,
    }
    return render(request, "dashboards/account/page.html", context)


@login_not_required
def admin_login(request: HttpRequest) -> HttpResponseRedirect:
    """The admin sends those here who may not open it."""
    if request.user.is_staff:
        return redirect("admin:index")
    if is_signed_in(request):
        raise PermissionDenied(
            "The admin opens for accounts with “staff status”. "
            f"{permission_givers()} can give it to you in the admin, under Users."
        )
    back = request.GET.get("next", reverse("admin:index"))
    return redirect(f"{reverse('login')}?{urlencode({'next': back}, safe='/')}")
