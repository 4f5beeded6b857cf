"""The figures at which a tweet is worth an event."""

from __future__ import annotations

from django.contrib import admin

from trackers.milestones.models import Milestone


@admin.register(Milestone)
class MilestoneAdmin(admin.ModelAdmin):
    list_display = ("metric", "at", "low")
    list_display_links = ("at",)
    list_filter = ("metric",)

    @admin.display(description="told again after it was below")
    def low(self, one: Milestone) -> int:
        return one.low
