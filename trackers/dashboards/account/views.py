"""One's own account, and where the admin's login leads. The pages of logging in are
django-allauth's, with our forms and templates (`templates/account`).
"""

from __future__ import annotations

from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from trackers.channels.models import QuietHours
from trackers.dashboards.access import (
    FIRST_PAGES,
    ViewFunction,
    is_signed_in,
    permission_givers,
)
from trackers.dashboards.account.own import opened_by
from trackers.history import on_page
from trackers.roles import roles_of
from trackers.tokens import acts
from trackers.tokens.sessions import logins_of
from trackers.tokens.ways_in import gets_in_here, is_linked
from tweetwatch import VERSION
from tweetwatch.servers import LoginProvider


def account(request: HttpRequest) -> HttpResponse:
    """Who one is here, and what that allows."""
    user = cast(User, request.user)
    context = {
        "roles": roles_of(user),
        "may_nothing": not any(map(user.has_perm, FIRST_PAGES.values())),
        "givers": permission_givers(),
        "logins": logins_of(user, here=request.session.session_key),
        "provider": settings.LOGIN_PROVIDER,
        "is_linked": is_linked(user),
        "quiet": QuietHours.objects.filter(user=user).first(),
        **opened_by(user),
        "now": timezone.now(),
        "version": VERSION,
    }
    return render(request, "dashboards/account/page.html", context)


@require_POST
def end_other_logins(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    done = acts.end_other_logins(user, on_page(user), here=request.session.session_key)
    messages.success(request, done.message)
    return redirect("account")


@require_http_methods(["GET", "HEAD", "POST"])
def unlink_provider(request: HttpRequest) -> HttpResponseBase:
    """Asks; or says why it cannot be, where the provider is the only way in."""
    user, provider = cast(User, request.user), settings.LOGIN_PROVIDER
    if not is_linked(user):
        return redirect("account")
    if request.method == "POST" and gets_in_here(user):
        return _unlink(request)
    context = {
        "provider": provider,
        "gets_in_here": gets_in_here(user),
        "givers": permission_givers(),
    }
    return render(request, "dashboards/account/unlink.html", context)


@reauthentication_required(app="allauth.socialaccount")
def _unlink(request: HttpRequest) -> HttpResponse:
    user, provider = cast(User, request.user), cast(LoginProvider, settings.LOGIN_PROVIDER)
    done = acts.unlink_provider(user, on_page(user), name=provider.name)
    messages.success(request, done.message)
    return redirect("account")


def no_password(request: HttpRequest) -> HttpResponse:
    """For an account without a password, in place of the form that changes it."""
    raise PermissionDenied(
        f"Your account has no password to change. {permission_givers()} can set one in the admin, "
        "under Users, or with `manage.py user set-password`."
    )


def with_mail(view: ViewFunction) -> ViewFunction:
    """Only where a mail server is set."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.EMAIL_SERVER is None:
            raise PermissionDenied(
                "No e-mail can be sent from here. An administrator can set a new password."
            )
        return view(request, *args, **kwargs)

    return guarded


@login_not_required
def login_cancelled(request: HttpRequest) -> HttpResponseRedirect:
    """A person who did not go on at the provider may log in by password."""
    return redirect("account_login")


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
    return redirect(f"{reverse('account_login')}?{urlencode({'next': back}, safe='/')}")
