"""Actions of the admin's lists, each in the admin's history once it was carried out."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from trackers import history

# So many are counted; an action on more is told as on more than that.
COUNTED_MOST = 50_000
# Django writes down by itself what this one deletes.
ITS_OWN = {"delete_selected"}
Action = Callable[..., Any]


class Recorded(admin.ModelAdmin):
    """An action that asks first answers with a page; it is carried out when `sure` comes."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = {}
        for name, found in super().get_actions(request).items():
            if found is not None:
                action, _, words = found
                taken = action if name in ITS_OWN else recorded(action, str(words))
                actions[name] = (taken, name, words)
        return actions


def recorded(action: Action, words: str) -> Action:
    @wraps(action)
    def acting(model: admin.ModelAdmin, request: HttpRequest, chosen: QuerySet[Model]) -> Any:
        # Afterwards they may be gone.
        rows = list(chosen[: history.LINES_MOST + 1])
        is_many = len(rows) > history.LINES_MOST
        count = chosen[: COUNTED_MOST + 1].count() if is_many else len(rows)
        answer = action(model, request, chosen)
        if answer is None or "sure" in request.POST:
            tell(request, rows, count, f"Action: {words}.")
        return answer

    return acting


def tell(request: HttpRequest, rows: list[Model], count: int, what: str) -> None:
    if count > history.LINES_MOST:
        more = count > COUNTED_MOST
        history.record_many(request.user, type(rows[0]), count - more, what, more=more)
    else:
        history.record(request.user, rows, what)
