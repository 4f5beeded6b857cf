"""Things that have a page of their own: the admin leads there, and keeps only their history."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect


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
