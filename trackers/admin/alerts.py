"""Rules that raise alerts, which have their page, and the log of what they raised."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from trackers.admin.actions import RedirectAdmin
from trackers.admin.one_row import OneRowAdmin
from trackers.admin.readonly import ReadOnlyAdmin
from trackers.alerts.models import AlertMail, AlertNotice, AlertRule
from trackers.channels.models import OwnLimits


@admin.register(AlertRule)
class AlertRuleAdmin(RedirectAdmin):
    page = "alert"

    def get_queryset(self, request: HttpRequest) -> QuerySet[AlertRule]:
        return super().get_queryset(request).seen_by(request.user)  # type: ignore[attr-defined]


@admin.register(OwnLimits)
class OwnLimitsAdmin(OneRowAdmin):
    pass


class MailInline(admin.TabularInline):
    model = AlertMail
    fields = readonly_fields = ("to", "state", "attempts", "sent_at", "next_at", "error")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AlertNotice)
class AlertNoticeAdmin(ReadOnlyAdmin):
    list_display = ("at", "kind", "rule_name", "first", "more")
    list_filter = ("kind",)
    inlines = (MailInline,)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AlertNotice]:
        return super().get_queryset(request).seen_by(request.user)  # type: ignore[attr-defined]

    @admin.display(description="said")
    def first(self, notice: AlertNotice) -> str:
        return notice.lines[0]["what"] if notice.lines else ""
