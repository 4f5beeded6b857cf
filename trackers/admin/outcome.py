"""What an action on chosen rows came to."""

from __future__ import annotations

from django.contrib import messages


def level(count: int) -> int:
    """Of the message that says so: nothing done is no success."""
    return messages.SUCCESS if count else messages.ERROR
