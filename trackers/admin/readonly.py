"""Rows that machines write: people can look at them, but change nothing.

Those are workers, as last reported, and django-q2's own schedules and tasks. A schedule names a
function with its arguments, so anybody who could edit one could run anything.
"""

from __future__ import annotations

from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone

from trackers.admin.actions import ActingAdmin
from trackers.jobs.observed.models import Worker


class ReadOnlyAdmin(ActingAdmin):
    """No adding, no deleting; every field is shown and none can be edited."""

    actions_on_bottom = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


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


# It registers its pages, which are then replaced.
import_module("django_q.admin")

for model in apps.get_app_config("django_q").get_models(include_auto_created=False):
    if admin.site.is_registered(model):
        theirs = type(admin.site.get_model_admin(model))
        admin.site.unregister(model)
        kept = type(f"ReadOnly{theirs.__name__}", (ReadOnlyAdmin, theirs), {"actions": ()})
        admin.site.register(model, kept)
