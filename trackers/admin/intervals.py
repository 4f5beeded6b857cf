"""Intervals as one list, checked as a whole when it is saved."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from trackers.forecasts.interval_forms import (
    INTERVAL_FIELDS,
    AdaptedRowForm,
    IntervalForm,
    IntervalFormSet,
    IntervalRowForm,
)
from trackers.forecasts.replace import replan_all
from trackers.history import in_admin
from trackers.schedule.models import Interval
from trackers.schedule.replan import ReplanningProgress, replanning_progress


@admin.register(Interval)
class IntervalAdmin(admin.ModelAdmin):
    form = IntervalForm
    fields = (*INTERVAL_FIELDS, "sure")
    list_display = ("rule", *INTERVAL_FIELDS)
    list_editable = INTERVAL_FIELDS
    list_display_links = ("rule",)
    list_per_page = 1000
    actions = None
    change_list_template = "admin/trackers/interval/change_list.html"

    @admin.display(description="rule")
    def rule(self, interval: Interval) -> str:
        words = interval.words
        return words if interval.enabled else f"{words} (disabled)"

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        form = AdaptedRowForm if _is_adapt_page(request) else IntervalRowForm
        return super().get_changelist_form(request, **{**kwargs, "form": form})

    def get_changelist_formset(self, request: HttpRequest, **kwargs: Any) -> Any:
        # Each row that is sent is checked by the database, however many the list has.
        most = {"max_num": self.list_max_show_all, "absolute_max": self.list_max_show_all}
        return super().get_changelist_formset(
            request, **{**kwargs, **most, "formset": IntervalFormSet}
        )

    def has_delete_permission(self, request: HttpRequest, obj: Interval | None = None) -> bool:
        """The last enabled row must stay: without one, nothing would be looked up."""
        if obj is not None and not Interval.objects.exclude(pk=obj.pk).filter(enabled=True):
            return False
        return super().has_delete_permission(request, obj)

    def get_urls(self) -> list[URLPattern]:
        replan = path(
            "replan/",
            self.admin_site.admin_view(require_POST(self.replan)),
            name="trackers_interval_replan",
        )
        # Not saved, only filled in: what it costs is seen first.
        adapt = path(
            "adapt/",
            self.admin_site.admin_view(self.changelist_view),
            name="trackers_interval_adapt",
        )
        return [replan, adapt, *super().get_urls()]

    def replan(self, request: HttpRequest) -> HttpResponseRedirect:
        if not self.has_change_permission(request):
            raise PermissionDenied
        self.message_user(request, replan_all(in_admin(request.user)).message, messages.SUCCESS)
        return redirect("admin:trackers_interval_changelist")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {
            "title": "How often to look up a tweet of each age",
            "may_change": self.has_change_permission(request),
            "is_filled_in": _is_adapt_page(request),
            "replanning": _describe_replanning(replanning)
            if (replanning := replanning_progress())
            else "",
            **(extra_context or {}),
        }
        response = super().changelist_view(request, context)
        if isinstance(response, HttpResponseRedirect):
            return redirect("admin:trackers_interval_changelist")
        return response


def _is_adapt_page(request: HttpRequest) -> bool:
    """Whether usual values are to be filled in: the list then has an address of its own, since it
    would take an unknown parameter for a filter."""
    return request.method == "GET" and request.path.endswith("/adapt/")


def _describe_replanning(replanning: ReplanningProgress) -> str:
    """How far the re-planning has got."""
    done = (
        f"{replanning.moved:,} next checks moved, {replanning.woken:,} resting tweets "
        "scheduled again"
    )
    if replanning.finished:
        return f"Re-planning has finished: {done}."
    far = f"Re-planning, {replanning.percent}% done: {done}."
    waits = " Waiting for a worker. Is a cluster running?" if replanning.lost else ""
    return far + waits
