"""What an action on chosen rows came to."""

from __future__ import annotations

from django.contrib import admin, messages
from django.http import HttpRequest


def report(
    listed: admin.ModelAdmin, request: HttpRequest, count: int, *, done: str, nothing: str
) -> None:
    """`done` has a place for the number. Nothing done is a warning, which says what to do."""
    if count:
        listed.message_user(request, done.format(f"{count:,}"), messages.SUCCESS)
    else:
        listed.message_user(request, nothing, messages.WARNING)
