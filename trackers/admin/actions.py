"""What pages of the admin have in common: actions that are asked about first and done by an act;
and the way to the page of what has one, of which the admin keeps only the history.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from trackers.acts import Done

Action = Callable[..., Any]


class ActingAdmin(admin.ModelAdmin):
    """An action that asks first answers with a page; it is carried out when `sure` comes. What an
    act returns is said; it is in the history already.
    """

    asks: Mapping[str, str] = {}  # by the name of an action its question, with a place for the rows
    # Fields that must not be guessed letter by letter, as Django lets a list be filtered by any.
    never_filtered_by: Collection[str] = ()

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        field, _, _ = lookup.partition("__")
        return field not in self.never_filtered_by and super().lookup_allowed(
            lookup, value, request
        )

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


class RedirectAdmin(admin.ModelAdmin):
    page: str  # the name of a row's page; the list has the plural, the form that adds one `-add`

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return self.lead(request, f"{self.page}s")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return self.lead(request, f"{self.page}-add")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return self.lead(request, self.page, object_id)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        return self.lead(request, self.page, object_id)

    def lead(self, request: HttpRequest, page: str, *of: str) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        if not all(id.isascii() and id.isdigit() for id in of):
            raise Http404(f"There is no {self.page} of that id.")
        return redirect(page, *(int(id) for id in of))
