"""Subscribers to events, which have their page, and the log of attempts."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from trackers.admin.actions import RedirectAdmin
from trackers.admin.readonly import ReadOnlyAdmin
from trackers.events.delivery.models import Attempt, LoggedAttempt
from trackers.events.models import Subscriber
from tweetwatch.notation import exactly

_MAX_ATTEMPTS_READ, _MAX_SUBSCRIBERS_LISTED = 50_000, 500
_ATTEMPT_COLUMNS = (
    "when", "subscriber", "outcome", "status", "took_ms", "number", "kind", "event_count",
    "error", "batch",
)  # fmt: skip


@admin.register(Subscriber)
class SubscriberAdmin(RedirectAdmin):
    page = "subscriber"


class SubscriberFilter(admin.SimpleListFilter):
    title = "subscriber"
    parameter_name = "subscriber"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        subscribers = Subscriber.objects.filter(removed_at=None).order_by("name")
        return [
            (str(pk), name)
            for pk, name in subscribers.values_list("pk", "name")[:_MAX_SUBSCRIBERS_LISTED]
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LoggedAttempt]) -> Any:
        value = self.value() or ""
        is_id = value.isascii() and value.isdigit() and len(value) < 19
        return queryset.filter(subscriber=int(value)) if is_id else queryset


@admin.register(LoggedAttempt)
class AttemptAdmin(ReadOnlyAdmin):
    """The newest of all subscribers; a subscriber's page has its own, and the command has all."""

    list_display = _ATTEMPT_COLUMNS
    list_display_links = ("when",)
    list_filter = ("outcome", "kind", SubscriberFilter)
    list_select_related = ("subscriber",)
    ordering = ("-id",)
    sortable_by = ()
    show_full_result_count = False

    @admin.display(description="at")
    def when(self, attempt: LoggedAttempt) -> str:
        return exactly(attempt.at)

    @admin.display(description="webhook-id")
    def batch(self, attempt: LoggedAttempt) -> str:
        """Its beginning, so that a row takes only a line or two; the attempt's page has all of
        it."""
        return format_html('<span title="{}">{}…</span>', attempt.uid, str(attempt.uid)[:8])

    @admin.display(description="events")
    def event_count(self, attempt: LoggedAttempt) -> int:
        return len(attempt.events)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LoggedAttempt]:
        """Looks through a fixed number of the newest, however many there are."""
        newest = Attempt.objects.order_by("-id").values_list("id", flat=True).first() or 0
        attempts = super().get_queryset(request).filter(pk__gt=newest - _MAX_ATTEMPTS_READ)
        return attempts.defer("subscriber__secrets")
