"""Actions of the admin's lists: asked about first, done by an act, and said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from trackers.acts import Done

Action = Callable[..., Any]


class ActingAdmin(admin.ModelAdmin):
    """An action that asks first answers with a page; it is carried out when `sure` comes. What an
    act returns is said; it is in the history already.
    """

    asks: Mapping[str, str] = {}  # by the name of an action its question, with a place for the rows

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = filter(None, super().get_actions(request).values())
        return {
            name: (_ask_and_act(action, str(words)), name, words) for action, name, words in actions
        }


def _ask_and_act(action: Action, words: str) -> Action:
    @wraps(action)
    def acting(model: ActingAdmin, request: HttpRequest, chosen: QuerySet[Model]) -> Any:
        question = model.asks.get(request.POST.get("action", ""))
        if question and request.POST.get("sure") != "yes":
            return _confirmation_response(
                model, request, question.format(_describe_rows(chosen)), words
            )
        answer = action(model, request, chosen)
        if isinstance(answer, Done):
            level = messages.SUCCESS if answer.is_done else messages.WARNING
            return model.message_user(request, answer.message, level)
        return answer

    return acting


def _describe_rows(chosen: QuerySet[Model]) -> str:
    """This many rows, in words."""
    count, meta = chosen.count(), chosen.model._meta
    return f"{count:,} {meta.verbose_name if count == 1 else meta.verbose_name_plural}"


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
