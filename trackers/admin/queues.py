"""The queues: the settings of each, and its pause."""

from __future__ import annotations

from datetime import datetime

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.history import in_admin
from trackers.jobs import acts
from trackers.jobs.models import Queue
from trackers.schedule.durations import spell
from trackers.schedule.forms import LengthField


@admin.register(Queue)
class QueueAdmin(ActingAdmin):
    list_display = (
        "name", "state", "held", "held_why", "failures",
        "batch", "waits_for_more", "lease_lasts", "arrivals",
    )  # fmt: skip
    readonly_fields = (
        "name", "task", "state", "held", "held_why", "failures", "arrivals_until",
    )  # fmt: skip
    fieldsets = (
        (None, {"fields": ("name", "task")}),
        ("Now", {"fields": ("state", "held", "held_why", "failures")}),
        ("Batches", {"fields": ("batch_size", "buffer_ttl", "lease")}),
        ("Failed requests", {"fields": ("retry_first", "retry_most")}),
        ("Bulk arrivals", {"fields": ("arrivals_per_second", "arrivals_until")}),
    )
    formfield_overrides = {models.DurationField: {"form_class": LengthField}}
    actions = ("pause", "resume", "lift_hold")

    @admin.display(description="state", ordering="paused")
    def state(self, queue: Queue) -> str:
        if queue.paused:
            return "paused: nothing is claimed"
        return "held" if queue.held(now=timezone.now()) else "runs"

    @admin.display(description="batch size", ordering="batch_size")
    def batch(self, queue: Queue) -> str:
        return f"{queue.batch_size:,}"

    # As they are written in the form.
    @admin.display(description="buffer TTL", ordering="buffer_ttl")
    def waits_for_more(self, queue: Queue) -> str:
        return spell(queue.buffer_ttl)

    @admin.display(description="lease", ordering="lease")
    def lease_lasts(self, queue: Queue) -> str:
        return spell(queue.lease)

    @admin.display(description="arrivals per second", ordering="arrivals_per_second")
    def arrivals(self, queue: Queue) -> str:
        return f"{queue.arrivals_per_second:,}"

    @admin.display(description="held until", ordering="held_until")
    def held(self, queue: Queue) -> datetime | None:
        """None if it is past: that hold is over, and its row stays until the next."""
        return queue.held_until if queue.held(now=timezone.now()) else None

    @admin.display(description="held because")
    def held_why(self, queue: Queue) -> str:
        return queue.held_reason if queue.held(now=timezone.now()) else ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Queue | None = None) -> bool:
        return False

    @admin.action(description="Pause: claim nothing", permissions=["change"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Queue]) -> Done:
        return acts.pause_queues(list(chosen), in_admin(request.user))

    @admin.action(description="Resume", permissions=["change"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Queue]) -> Done:
        return acts.resume_queues(list(chosen), in_admin(request.user))

    @admin.action(description="Lift the hold: ask again at once", permissions=["change"])
    def lift_hold(self, request: HttpRequest, chosen: QuerySet[Queue]) -> Done:
        return acts.lift_holds(list(chosen), in_admin(request.user))
