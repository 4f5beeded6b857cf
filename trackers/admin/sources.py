"""Sources and the stream: rows to look at. What is done with a source is done on its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from trackers.admin.readonly import ReadOnlyAdmin
from trackers.ingest.sources.models import Gap, Source
from trackers.ingest.stream.models import Stream
from trackers.schedule.durations import spell

_MAX_NAME_LENGTH = 40


class PausedFilter(admin.SimpleListFilter):
    title = "paused"
    parameter_name = "paused"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "No"), ("yes", "Yes")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Source]) -> QuerySet[Source]:
        match self.value():
            case "no":
                return queryset.filter(paused_at=None)
            case "yes":
                return queryset.exclude(paused_at=None)
        return queryset


class OwnerFilter(admin.AllValuesFieldListFilter):
    """A link needs words, even for sources without an owner."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or "no owner"}


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    list_display = (
        "name", "owner", "priority", "polled_every", "runs", "polled_at", "yielded",
        "leaked", "gaps_open",
    )  # fmt: skip
    list_display_links = None
    list_filter = ("kind", PausedFilter, "priority", ("owner", OwnerFilter))
    search_fields = ("of", "username", "owner")
    change_list_template = "admin/trackers/source/change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        open = (
            Gap.objects.filter(source=OuterRef("pk"), closed_at=None)
            .order_by()
            .values("source")
            .annotate(count=Count("pk"))
        )
        count = Coalesce(Subquery(open.values("count")), 0)
        return super().get_queryset(request).annotate(open_gaps=count)

    @admin.display(description="source", ordering="of")
    def name(self, source: Source) -> str:
        name = str(source)
        short = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
        return format_html('<a href="{}">{}</a>', reverse("source", args=[source.pk]), short)

    @admin.display(description="every", ordering="every")
    def polled_every(self, source: Source) -> str:
        return spell(source.every) if source.is_polled else "-"

    @admin.display(description="runs", boolean=True, ordering="paused_at")
    def runs(self, source: Source) -> bool:
        return source.paused_at is None

    @admin.display(description="open gaps", ordering="open_gaps")
    def gaps_open(self, source: Source) -> int:
        return getattr(source, "open_gaps", 0)


@admin.register(Stream)
class StreamAdmin(ReadOnlyAdmin):
    list_display = ("name", "state", "because", "state_since", "heard_at", "lines", "connects")
    exclude = ("lease",)
