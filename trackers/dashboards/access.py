"""Who may look: staff. Others are sent to the admin's login, in a way that suits the request."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django_htmx.http import HttpResponseClientRefresh

View = Callable[..., HttpResponseBase]


def staff_only(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_active and request.user.is_staff:
            return view(request, *args, **kwargs)
        return refused(request)

    return guarded


def refused(request: HttpRequest) -> HttpResponse:
    # A poll must not swap the login form into a row, so it reloads the whole page.
    if request.headers.get("HX-Request"):
        return HttpResponseClientRefresh()
    if request.path.endswith(".json"):
        return JsonResponse({"error": "Log in first."}, status=401)
    return redirect_to_login(request.get_full_path())
