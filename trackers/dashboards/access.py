"""Who may look: people who are signed in and have the page's permission. A new view is closed until
it says otherwise.

Others are sent to the login page, which brings them back to where they were; those who lack a
permission are told which one, and who can grant it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import Permission
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.defaults import permission_denied
from django_htmx.http import HttpResponseClientRedirect

from trackers import roles
from trackers.dashboards.parts import part_of
from trackers.tokens.factors import lacks_factor

ViewFunction = Callable[..., HttpResponseBase]

VIEW_TWEETS = "trackers.view_tweet"
VIEW_SOURCES = "trackers.view_source"
VIEW_SUBSCRIBERS = "trackers.view_subscriber"
VIEW_OPERATIONS = "trackers.view_queue"
VIEW_ALERTS = "trackers.view_alertrule"
# The first page of somebody who may not see everything.
FIRST_PAGES = {
    "overview": VIEW_TWEETS,
    "sources": VIEW_SOURCES,
    "operations": VIEW_OPERATIONS,
    "subscribers": VIEW_SUBSCRIBERS,
}
# What a person may choose as the first; by `Preferences.Start`.
_START_PAGES = {
    **dict.fromkeys(("tweets", "columns", "home"), VIEW_TWEETS),
    "sources": VIEW_SOURCES,
    "alerts": VIEW_ALERTS,
}
# At most this many of those who can give a permission are named.
_MAX_GIVERS_NAMED = 5


class SignedInMiddleware(LoginRequiredMiddleware):
    """Everything is for accounts only, except what `login_not_required` marks as open."""

    def process_view(
        self, request: HttpRequest, view_func: ViewFunction, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if not getattr(view_func, "login_required", True):
            return None
        if not is_signed_in(request):
            return _ask_to_log_in(request)
        if not _is_of_account(request) and lacks_factor(request.user):
            return _ask_for_factor(request)
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The admin itself refuses without an explanation."""
        if isinstance(error, PermissionDenied) and not error.args and is_signed_in(request):
            sentence = (
                f"Your account may not do this. {permission_givers()} can give it the permission."
            )
            return permission_denied(request, PermissionDenied(sentence))
        return None

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """No proxy may store what a signed-in person is shown. A browser may store a page, but asks
        before it shows it again; it may not store a file."""
        session = getattr(request, "session", None)
        if session is not None and session.accessed and not response.has_header("Cache-Control"):
            is_page = response.headers.get("Content-Type", "").startswith("text/html")
            kept = {"no_cache": True} if is_page else {"no_store": True}
            patch_cache_control(response, private=True, **kept)
        return response


def needs(permission: str, **of_parts: str) -> Callable[[ViewFunction], ViewFunction]:
    """Limits a view to people who are signed in and have this permission. `of_parts`: what some
    parts of the page take besides, by their names."""

    def guard(view: ViewFunction) -> ViewFunction:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not is_signed_in(request):
                return _ask_to_log_in(request)
            if not request.user.has_perm(permission) and request.path.endswith(".json"):
                return JsonResponse({"error": _explain_lack(permission)}, status=403)
            require_permission(request, permission)
            if (part := part_of(request)) in of_parts:
                require_permission(request, of_parts[part])
            return view(request, *args, **kwargs)

        guarded.__dict__.update(permission=permission, of_parts=of_parts)
        return guarded

    return guard


def require_permission(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied(_explain_lack(permission))


def _explain_lack(permission: str) -> str:
    """Which permission it takes, as the admin calls it, and who can give it."""
    label, _, codename = permission.partition(".")
    permissions = Permission.objects.filter(content_type__app_label=label, codename=codename)
    name = permissions.values_list("name", flat=True).first() or permission
    role = roles.least_with(permission)
    has = f", which the role {role} has" if role else ""
    return (
        f"Your account lacks the permission “{name}” ({permission}){has}. "
        f"{permission_givers()} can give it to you in the admin, under Users."
    )


def permission_givers() -> str:
    """Who can change accounts, by name."""
    return " or ".join(roles.those_who_give()[:_MAX_GIVERS_NAMED]) or "An administrator"


def first_page(request: HttpRequest) -> str:
    """The page for somebody who did not ask for one."""
    if chosen := start_elsewhere(request):
        return chosen
    seen = (name for name, taken in FIRST_PAGES.items() if request.user.has_perm(taken))
    return reverse(next(seen, "account"))


def start_elsewhere(request: HttpRequest) -> str:
    """The address of the page that the person has chosen as the first; empty where that is Today,
    or one that they may not see any more."""
    preferences = getattr(request.user, "preferences", None)
    name = preferences.start if preferences else ""
    taken = _START_PAGES.get(name)
    return reverse(name) if taken and request.user.has_perm(taken) else ""


def is_signed_in(request: HttpRequest) -> bool:
    return request.user.is_active


def _ask_to_log_in(request: HttpRequest) -> HttpResponse:
    """To the login page, and from there back to where the person was."""
    if request.headers.get("HX-Request"):
        # A poll must not swap the login form into a row.
        return HttpResponseClientRedirect(_login_address(request, _page_address(request)))
    if request.path.endswith(".json"):
        return JsonResponse({"error": "Log in first."}, status=401)
    return redirect(_login_address(request, _page_address(request)))


def _is_of_account(request: HttpRequest) -> bool:
    """Pages on which a person adds a factor, or leaves."""
    match = request.resolver_match
    if match is None or match.namespaces or match.url_name is None:
        return False
    return match.url_name == "account" or match.url_name.startswith(("account_", "mfa_"))


def _ask_for_factor(request: HttpRequest) -> HttpResponse:
    if request.path.endswith(".json"):
        return JsonResponse({"error": "Add a second factor to your account first."}, status=403)
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(reverse("mfa_index"))
    return redirect("mfa_index")


def _login_address(request: HttpRequest, back: str) -> str:
    """With what the login page says: that a session is over, and that what was sent is lost."""
    params = {"next": back}
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        params["over"] = "1"
    if request.method not in ("GET", "HEAD"):
        params["lost"] = "1"
    return f"{reverse('account_login')}?{urlencode(params, safe='/')}"


def _page_address(request: HttpRequest) -> str:
    """The page the person looks at: itself, or the one that holds the form or asked for a part."""
    if request.headers.get("HX-Request"):
        page = request.headers.get("HX-Current-URL", "")
    elif request.method in ("GET", "HEAD"):
        return request.get_full_path()
    else:
        page = request.headers.get("Referer", "")
    ours = {request.get_host()}
    if not url_has_allowed_host_and_scheme(page, ours, require_https=request.is_secure()):
        return "/"
    parts = urlsplit(page)
    return f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
