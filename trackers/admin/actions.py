"""Actions of the admin's lists, each in the admin's history once it was carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from trackers import history
from trackers.acts import Done

# At most this many are counted; an action on more is recorded as on more than that.
_MAX_ROWS_COUNTED = 50_000
# Django records by itself what this one deletes.
_RECORDED_BY_DJANGO = {"delete_selected"}
Action = Callable[..., Any]


class RecordedAdmin(admin.ModelAdmin):
    """An action that asks first answers with a page; it is carried out when `sure` comes. What an
    act returns is said; it is in the history already.
    """

    asks: Mapping[str, str] = {}  # by the name of an action its question, with a place for the rows

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = {}
        for name, entry in super().get_actions(request).items():
            if entry is not None:
                action, _, words = entry
                taken = (
                    action if name in _RECORDED_BY_DJANGO else _record_action(action, str(words))
                )
                actions[name] = (taken, name, words)
        return actions


def _record_action(action: Action, words: str) -> Action:
    @wraps(action)
    def acting(model: admin.ModelAdmin, request: HttpRequest, chosen: QuerySet[Model]) -> Any:
        # Afterwards they may be gone.
        rows = list(chosen[: history.MAX_LINES + 1])
        is_many = len(rows) > history.MAX_LINES
        count = chosen[: _MAX_ROWS_COUNTED + 1].count() if is_many else len(rows)
        question = getattr(model, "asks", {}).get(request.POST.get("action", ""))
        if question and request.POST.get("sure") != "yes":
            return _confirmation_response(
                model, request, question.format(_describe_rows(rows, count)), words
            )
        answer = action(model, request, chosen)
        if isinstance(answer, Done):
            level = messages.SUCCESS if answer.is_done else messages.WARNING
            return model.message_user(request, answer.message, level)
        if answer is None or "sure" in request.POST:
            _write_history(request, rows, count, f"Action: {words}.")
        return answer

    return acting


def _describe_rows(rows: list[Model], count: int) -> str:
    """This many rows, in words."""
    if not rows:
        return "nothing"
    meta = rows[0]._meta
    name = meta.verbose_name if count == 1 else meta.verbose_name_plural
    more = "more than " if count > _MAX_ROWS_COUNTED else ""
    return f"{more}{min(count, _MAX_ROWS_COUNTED):,} {name}"


def _confirmation_response(
    model: admin.ModelAdmin, request: HttpRequest, question: str, words: str
) -> HttpResponse:
    values = {
        "title": f"{words}?",
        "opts": model.opts,
        "question": question,
        "button": words,
        "action": request.POST["action"],
        "across": request.POST.get("select_across") == "1",
        "ticked": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
        "back": request.get_full_path(),
    }
    context = {**model.admin_site.each_context(request), **values}
    return render(request, "admin/trackers/sure.html", context)


def _write_history(request: HttpRequest, rows: list[Model], count: int, what: str) -> None:
    if count > history.MAX_LINES:
        more = count > _MAX_ROWS_COUNTED
        history.record_many(request.user, type(rows[0]), count - more, what, more=more)
    else:
        history.record(request.user, rows, what)
