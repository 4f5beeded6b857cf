"""Logging in and out, one's own password, and what one's account may do."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator

from trackers import history
from trackers.dashboards.access import FIRST_PAGES, first_page, is_signed_in, permission_givers
from trackers.dashboards.account.forms import LoginForm, PasswordForm
from trackers.history import on_page
from trackers.roles import roles_of
from tweetwatch import VERSION


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

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(now=timezone.now(), **context)

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
        "now": timezone.now(),
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
