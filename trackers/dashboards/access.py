"""Who may look: staff who have the page's permission. A new view is closed until it says so.

Others are sent to the admin's login, in a way that suits the request; staff without the permission
are told which one is missing, and who can grant it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import Permission, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.cache import patch_cache_control
from django_htmx.http import HttpResponseClientRefresh

View = Callable[..., HttpResponseBase]

TWEETS = "trackers.view_tweet"
SOURCES = "trackers.view_source"
SUBSCRIBERS = "trackers.view_subscriber"
OPERATIONS = "trackers.view_namespace"
# Of those who can give a permission so many are named.
NAMED_MOST = 5


class StaffOnlyMiddleware(LoginRequiredMiddleware):
    """For staff alone, whatever is not marked as open with `login_not_required`."""

    def process_view(
        self, request: HttpRequest, view_func: View, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if not getattr(view_func, "login_required", True) or is_staff(request):
            return None
        return refused(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """No proxy keeps what somebody who is signed in is shown. A page may stay in the browser,
        which asks before it shows it again; a file may not."""
        session = getattr(request, "session", None)
        if session is not None and session.accessed and not response.has_header("Cache-Control"):
            is_page = response.headers.get("Content-Type", "").startswith("text/html")
            kept = {"no_cache": True} if is_page else {"no_store": True}
            patch_cache_control(response, private=True, **kept)
        return response


def needs(permission: str) -> Callable[[View], View]:
    """Of a view: only staff with this permission get it."""

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not is_staff(request):
                return refused(request)
            if not request.user.has_perm(permission) and request.path.endswith(".json"):
                return JsonResponse({"error": lacking(permission)}, status=403)
            demand(request, permission)
            return view(request, *args, **kwargs)

        guarded.__dict__["permission"] = permission
        return guarded

    return guard


def demand(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied(lacking(permission))


def lacking(permission: str) -> str:
    """Which permission it takes, as the admin calls it, and who can give it."""
    label, _, codename = permission.partition(".")
    found = Permission.objects.filter(content_type__app_label=label, codename=codename)
    name = found.values_list("name", flat=True).first() or permission
    givers = User.objects.filter(is_superuser=True, is_active=True).order_by("username")
    names = list(givers.values_list("username", flat=True)[:NAMED_MOST])
    who = " or ".join(names) or "An administrator"
    return (
        f"Your account lacks the permission “{name}” ({permission}). "
        f"{who} can give it to you in the admin, under Users."
    )


def is_staff(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff


def refused(request: HttpRequest) -> HttpResponse:
    # A poll must not swap the login form into a row, so it reloads the whole page.
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    if request.path.endswith(".json"):
        return JsonResponse({"error": "Log in first."}, status=401)
    return redirect_to_login(request.get_full_path())
