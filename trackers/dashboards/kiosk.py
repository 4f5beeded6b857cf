"""`?kiosk=1`: a page for a screen on a wall, without the menu and in large type."""

from __future__ import annotations

from django.http import HttpRequest


def is_kiosk(request: HttpRequest) -> bool:
    return request.GET.get("kiosk") == "1"
