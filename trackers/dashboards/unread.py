"""How many alerts the person has not read, in the menu."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from trackers.alerts.unread import UNREAD_MOST, count_unread


def unread(request: HttpRequest) -> dict[str, object]:
    """For templates: such as "3"; empty for none. Asked of the database only by those that show
    it."""
    return {"unread_alerts": SimpleLazyObject(lambda: _unread_words(count_unread(request.user)))}  # type: ignore[arg-type]


def _unread_words(count: int) -> str:
    if count > UNREAD_MOST:
        return f"{UNREAD_MOST}+"
    return str(count or "")
