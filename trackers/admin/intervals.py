"""Intervals as one list, checked as a whole when it is saved."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from trackers import history
from trackers.schedule.durations import spell
from trackers.schedule.forms import IntervalForm, IntervalFormSet, IntervalRowForm
from trackers.schedule.models import Interval
from trackers.schedule.replan import Progress, progress, replan


@admin.register(Interval)
class IntervalAdmin(admin.ModelAdmin):
    form = IntervalForm
    fields = ("younger_than", "every", "jitter", "enabled", "sure")
    list_display = ("rule", "younger_than", "every", "jitter", "enabled")
    list_editable = ("younger_than", "every", "jitter", "enabled")
    list_display_links = ("rule",)
    list_per_page = 1000
    actions = None
    change_list_template = "admin/trackers/interval/change_list.html"

    @admin.display(description="rule")
    def rule(self, interval: Interval) -> str:
        words = f"younger than {spell(interval.younger_than)} → every {spell(interval.every)}"
        return words if interval.enabled else f"{words} (disabled)"

    def get_changelist_form(self, request: HttpRequest, **given: Any) -> Any:
        return super().get_changelist_form(request, **{**given, "form": IntervalRowForm})

    def get_changelist_formset(self, request: HttpRequest, **given: Any) -> Any:
        return super().get_changelist_formset(request, **{**given, "formset": IntervalFormSet})

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
        return [replan, *super().get_urls()]

    def replan(self, request: HttpRequest) -> HttpResponseRedirect:
        if not self.has_change_permission(request):
            raise PermissionDenied
        replan()
        history.record_many(
            request.user, Interval, Interval.objects.count(), "Re-planned what is scheduled."
        )
        self.message_user(
            request,
            "The workers re-plan what is scheduled by the intervals in force, the youngest first. "
            "This page tells how far they are.",
            messages.SUCCESS,
        )
        return redirect("admin:trackers_interval_changelist")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        given = {
            "title": "How often is a tweet of which age looked up?",
            "may_change": self.has_change_permission(request),
            "replanning": sentence(replanning) if (replanning := progress()) else "",
            **(extra_context or {}),
        }
        return super().changelist_view(request, given)


def sentence(replanning: Progress) -> str:
    """How far the re-planning has got."""
    done = (
        f"{replanning.moved:,} next checks moved, {replanning.woken:,} resting tweets brought back"
    )
    if replanning.finished:
        return f"Re-planning is done: {done}."
    far = f"Re-planning, {replanning.percent} % done: {done}."
    waits = " It waits for a worker: is a cluster running?" if replanning.lost else ""
    return far + waits
