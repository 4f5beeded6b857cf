"""Rules that raise alerts, and the log of what they raised. The form is the page's own."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from trackers.admin.readonly import MachineMade
from trackers.admin.recorded import Recorded
from trackers.alerts.forms import FIELDS, RuleForm
from trackers.alerts.models import AlertMail, AlertNotice, AlertRule
from trackers.alerts.words import condition


@admin.register(AlertRule)
class AlertRuleAdmin(Recorded):
    """Fields that the kind of a rule does not have are left out once the rule exists."""

    form = RuleForm
    list_display = ("name", "kind", "tells_when", "to_whom", "by_event", "enabled", "on_its_page")
    list_filter = ("kind", "enabled", "about")
    search_fields = ("name",)
    actions = ("switch_on", "switch_off")

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        # The form drops fields by the kind: the admin would ask for those that it lacks.
        return RuleForm

    def get_fieldsets(self, request: HttpRequest, obj: AlertRule | None = None) -> Any:
        there = RuleForm(instance=obj).fields
        return [(None, {"fields": [name for name in FIELDS if name in there]})]

    def save_model(self, request: HttpRequest, obj: AlertRule, form: Any, change: bool) -> None:
        if not change:
            obj.made_by_id = request.user.pk
        super().save_model(request, obj, form, change)

    @admin.display(description="alerts when")
    def tells_when(self, one: AlertRule) -> str:
        return condition(one)

    @admin.display(description="e-mail to")
    def to_whom(self, one: AlertRule) -> str:
        return ", ".join(one.to) or "none"

    @admin.display(description="test")
    def on_its_page(self, one: AlertRule) -> str:
        return format_html('<a href="{}">on its page</a>', reverse("alert", args=[one.pk]))

    @admin.action(description="Switch on", permissions=["change"])
    def switch_on(self, request: HttpRequest, chosen: QuerySet[AlertRule]) -> None:
        chosen.update(enabled=True)

    @admin.action(description="Switch off", permissions=["change"])
    def switch_off(self, request: HttpRequest, chosen: QuerySet[AlertRule]) -> None:
        chosen.update(enabled=False)


class Mails(admin.TabularInline):
    model = AlertMail
    fields = readonly_fields = ("to", "state", "attempts", "sent_at", "next_at", "error")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AlertNotice)
class AlertNoticeAdmin(MachineMade):
    list_display = ("at", "kind", "rule_name", "first", "more")
    list_filter = ("kind",)
    inlines = (Mails,)
    show_full_result_count = False

    @admin.display(description="said")
    def first(self, one: AlertNotice) -> str:
        return one.lines[0]["what"] if one.lines else ""
