"""The figures at which a tweet is worth an event."""

from __future__ import annotations

from django.contrib import admin

from trackers.milestones.models import Milestone


@admin.register(Milestone)
class MilestoneAdmin(admin.ModelAdmin):
    list_display = ("metric", "reached", "again")
    list_display_links = ("reached",)
    list_filter = ("metric",)

    @admin.display(description="at", ordering="at")
    def reached(self, milestone: Milestone) -> str:
        return f"{milestone.at:,}"

    # A method of the field's own name would not be called.
    @admin.display(description="counts again after falling below", ordering="low")
    def again(self, milestone: Milestone) -> str:
        return f"{milestone.low:,}"
