"""Subscribers to events, which have their page, and the log of attempts."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from trackers.admin.elsewhere import OnItsPage
from trackers.admin.readonly import MachineMade
from trackers.events.models import Attempt, LoggedAttempt, Subscriber

MOST_LOOKED, MOST_LISTED = 50_000, 500
SHOWN = ("when", "subscriber", "outcome", "status", "took_ms", "number", "event_count", "error",
         "batch")  # fmt: skip


@admin.register(Subscriber)
class SubscriberAdmin(OnItsPage):
    page = "subscriber"


class WhoseFilter(admin.SimpleListFilter):
    title = "subscriber"
    parameter_name = "subscriber"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        there = Subscriber.objects.filter(removed_at=None).order_by("name")
        return [(str(pk), name) for pk, name in there.values_list("pk", "name")[:MOST_LISTED]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LoggedAttempt]) -> Any:
        given = self.value() or ""
        is_id = given.isascii() and given.isdigit() and len(given) < 19
        return queryset.filter(subscriber=int(given)) if is_id else queryset


@admin.register(LoggedAttempt)
class AttemptAdmin(MachineMade):
    """The newest of all subscribers; a subscriber's page has its own, and the command has all."""

    list_display = SHOWN
    list_display_links = ("when",)
    list_filter = ("outcome", WhoseFilter)
    list_select_related = ("subscriber",)
    ordering = ("-id",)
    sortable_by = ()
    show_full_result_count = False

    @admin.display(description="at, UTC")
    def when(self, one: LoggedAttempt) -> str:
        return f"{one.at:%Y-%m-%d %H:%M:%S}"

    @admin.display(description="webhook-id")
    def batch(self, one: LoggedAttempt) -> str:
        """Its beginning, so that a row takes only a line or two; the attempt's page has all of
        it."""
        return format_html('<span title="{}">{}…</span>', one.uid, str(one.uid)[:8])

    @admin.display(description="events")
    def event_count(self, one: LoggedAttempt) -> int:
        return len(one.events)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LoggedAttempt]:
        """Looks through a fixed number of the newest, however many there are."""
        newest = Attempt.objects.order_by("-id").values_list("id", flat=True).first() or 0
        found = super().get_queryset(request).filter(pk__gt=newest - MOST_LOOKED)
        return found.defer("subscriber__secrets")
