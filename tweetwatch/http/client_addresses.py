"""Whose request it is, by its address: that of the client, behind our proxy or without one."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest | None) -> str:
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
