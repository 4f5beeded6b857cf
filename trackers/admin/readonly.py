"""Rows that machines write: people can look at them, but change nothing."""

from __future__ import annotations

from django.db import models
from django.http import HttpRequest

from trackers.admin.actions import ActingAdmin


class ReadOnlyAdmin(ActingAdmin):
    """No adding, no deleting; every field is shown and none can be edited."""

    actions_on_bottom = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False
