"""Who is at work, as last reported."""

from __future__ import annotations

from django.contrib import admin
from django.utils import timezone

from trackers.admin.readonly import ReadOnlyAdmin
from trackers.jobs.models import Worker


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = (
        "host", "pid", "kind", "alive", "doing", "doing_since", "started_at", "seen_at", "of",
    )  # fmt: skip
    list_filter = ("kind", "host")
    list_display_links = None

    @admin.display(description="cluster", ordering="cluster")
    def of(self, worker: Worker) -> str:
        """The first digits tell clusters apart."""
        return str(worker.cluster)[:8]

    @admin.display(boolean=True, description="alive")
    def alive(self, worker: Worker) -> bool:
        return worker.seen_at > timezone.now() - Worker.SILENT_AFTER
