"""A person's browsers that are told: asked for by a button, ended with the login or by its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.core.exceptions import ValidationError
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_POST, require_safe

from trackers.channels import browsers
from trackers.dashboards.access import VIEW_ALERTS, needs
from trackers.history import on_page

_WORKER_FILE = Path(__file__).parents[2] / "static" / "trackers" / "push-worker.js"
# In the session: which of the browsers it is.
_THIS_BROWSER = "told_browser"
_GIVEN = ("name", "endpoint", "p256dh", "auth")
_ICON_SIZES = (192, 512)


@require_POST
@needs(VIEW_ALERTS)
def push_key(request: HttpRequest) -> HttpResponse:
    """The public half, made when somebody asks for it first."""
    return JsonResponse({"key": browsers.public_key()})


@require_POST
@needs(VIEW_ALERTS)
def add(request: HttpRequest) -> HttpResponseRedirect:
    """What the browser gave to the page's script."""
    user = cast(User, request.user)
    given = {name: request.POST.get(name, "") for name in _GIVEN}
    try:
        channel = browsers.add_browser(user, on_page(user), **given)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        request.session[_THIS_BROWSER] = channel.pk
        messages.success(request, f"{channel}: added. Choose it in the rules that are to tell it.")
    return redirect("account")


@receiver(user_logged_out)
def _end_with_login(request: HttpRequest, user: User | None, **_: Any) -> None:
    id = request.session.get(_THIS_BROWSER)
    if user is not None and id is not None:
        browsers.end_browser(user, on_page(user), id)


@receiver(pre_delete, sender=User)
def _end_with_account(instance: User, **_: Any) -> None:
    """Deleted in the admin."""
    browsers.browsers_of(instance).delete()


@require_safe
@login_not_required
def worker(request: HttpRequest) -> HttpResponse:
    """At the root, since a worker is for what lies below its own address."""
    answer = HttpResponse(_worker_text(), content_type="text/javascript")
    answer["Cache-Control"] = "no-cache"
    return answer


@cache
def _worker_text() -> str:
    return _WORKER_FILE.read_text()


@require_safe
@login_not_required
def manifest(request: HttpRequest) -> HttpResponse:
    """What a phone needs to put the pages on its home screen; only then iOS takes messages."""
    return JsonResponse(
        {
            "name": "tweetwatch",
            "short_name": "tweetwatch",
            "start_url": "/",
            "display": "standalone",
            "background_color": "#ffffff",
            "theme_color": "#2f6fed",
            "icons": [
                {
                    "src": static(f"trackers/icons/icon-{size}.png"),
                    "sizes": f"{size}x{size}",
                    "type": "image/png",
                }
                for size in _ICON_SIZES
            ],
        },
        content_type="application/manifest+json",
    )
