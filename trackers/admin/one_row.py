"""Settings that are one row: shown at once, and never added or deleted by a person."""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect


class OneRowAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse | HttpResponseRedirect:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        return redirect(f"admin:trackers_{self.opts.model_name}_change", 1)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Model | None:
        """The row is created as soon as somebody opens it, however they got there."""
        if object_id == "1":
            self.model._default_manager.get_or_create(pk=1)
        return super().get_object(request, object_id, from_field)
