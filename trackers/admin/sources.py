"""Sources: named here, told how often and how much to read, paused, polled now, and removed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from trackers.admin.readonly import MachineMade
from trackers.admin.recorded import Recorded
from trackers.ingest.sources import life
from trackers.ingest.sources.forms import MAIN, SourceForm
from trackers.ingest.sources.models import Gap, Source, Stream
from trackers.schedule.durations import spell

GAPS_SHOWN = timedelta(days=31)
NAME_SHOWN = 40
NOW = (
    "now", "paused_at", "polled_at", "yielded", "again", "leaked", "overlapped_at", "skew",
    "account_id", "username", "created_at",
)  # fmt: skip
POLLS = ("every", "pages", "backfill", "late_by")
LEFT_OUT = ("exclude_replies", "exclude_retweets")
OURS = ("priority", "owner")


class GapInline(admin.TabularInline):
    model = Gap
    fk_name = "source"
    verbose_name_plural = "gaps that are open or lost, and those that were filled of late"
    extra = 0
    fields = readonly_fields = ("why", "from_id", "to_id", "found_at", "closed_at")
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Gap]:
        lately = Q(closed_at=None) | Q(closed_at__gte=timezone.now() - GAPS_SHOWN)
        return super().get_queryset(request).filter(lately)

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class Paused(admin.SimpleListFilter):
    title = "paused"
    parameter_name = "paused"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("no", "No"), ("yes", "Yes")]

    def queryset(self, request: HttpRequest, found: QuerySet[Source]) -> QuerySet[Source]:
        match self.value():
            case "no":
                return found.filter(paused_at=None)
            case "yes":
                return found.exclude(paused_at=None)
        return found


class Owner(admin.AllValuesFieldListFilter):
    """A link has to say something, also where no owner is named."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or "none named"}


@admin.register(Source)
class SourceAdmin(Recorded):
    form = SourceForm
    list_display = (
        "name", "owner", "priority", "polled_every", "runs", "polled_at", "yielded",
        "leaked", "gaps_open", "on_its_page",
    )  # fmt: skip
    list_filter = ("kind", Paused, "priority", ("owner", Owner))
    search_fields = ("of", "username", "owner")
    readonly_fields = NOW
    inlines = (GapInline,)
    actions = ("poll_now", "pause", "resume", "remove")
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

    def get_fieldsets(self, request: HttpRequest, obj: Source | None = None) -> Any:
        """Of a stream nothing is polled, and a file was read once."""
        source = obj or Source()
        polls = (
            "How it is polled",
            {"fields": POLLS, "description": self.form(instance=source).cost},
        )
        leaves = ("What it leaves out", {"fields": LEFT_OUT})
        ours = ("For us", {"fields": OURS})
        if obj is None:
            return [(None, {"fields": MAIN}), polls, leaves, ours]
        main = (None, {"fields": ("kind_once", "of")})
        now = ("Now", {"fields": NOW})
        if not obj.is_polled:
            return [main, ours, now]
        return [main, polls, leaves, ours, now]

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:
        if obj is None:
            return NOW
        # A file keeps the name that it was uploaded with.
        return (*NOW, "kind_once", *(("of",) if obj.kind == Source.Kind.IMPORT else ()))

    def get_inlines(self, request: HttpRequest, obj: Source | None) -> Any:
        return () if obj is None else self.inlines

    def has_delete_permission(self, request: HttpRequest, obj: Source | None = None) -> bool:
        """Django's own page would list every tweet that came from it; there is an action."""
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.delete_source")

    def save_model(self, request: HttpRequest, obj: Source, form: SourceForm, change: bool) -> None:
        if change:
            # The others may be written by a poll at this moment.
            life.change(obj, form.changed_data)
        else:
            life.add(obj)

    @admin.display(description="source", ordering="of")
    def name(self, source: Source) -> str:
        return shortened(str(source), NAME_SHOWN)

    @admin.display(description="What")
    def kind_once(self, source: Source) -> str:
        return source.get_kind_display()

    @admin.display(description="every", ordering="every")
    def polled_every(self, source: Source) -> str:
        return spell(source.every) if source.is_polled else "-"

    @admin.display(description="runs", boolean=True, ordering="paused_at")
    def runs(self, source: Source) -> bool:
        return source.paused_at is None

    @admin.display(description="gaps open", ordering="open_gaps")
    def gaps_open(self, source: Source) -> int:
        return getattr(source, "open_gaps", 0)

    @admin.display(description="how it stands")
    def on_its_page(self, source: Source) -> str:
        return format_html('<a href="{}">page</a>', reverse("source", args=[source.pk]))

    @admin.display(description="How it stands")
    def now(self, source: Source) -> str:
        said = source.problem or source.hidden_because or "on its page"
        return format_html('<a href="{}">{}</a>', reverse("source", args=[source.pk]), said)

    @admin.action(description="Poll now", permissions=["change"])
    def poll_now(self, request: HttpRequest, chosen: QuerySet[Source]) -> None:
        count = life.poll_now(ids(chosen))
        self.message_user(request, f"{count:,} are polled next.", messages.SUCCESS)

    @admin.action(description="Pause", permissions=["change"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Source]) -> None:
        count = life.pause(ids(chosen))
        self.message_user(request, f"Paused {count:,}.", messages.SUCCESS)

    @admin.action(description="Resume", permissions=["change"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Source]) -> None:
        count = life.resume(ids(chosen))
        self.message_user(request, f"Resumed {count:,}.", messages.SUCCESS)

    @admin.action(description="Remove: their tweets stay tracked", permissions=["end"])
    def remove(self, request: HttpRequest, chosen: QuerySet[Source]) -> HttpResponse | None:
        if request.POST.get("sure") != "yes":
            given = {"title": "Remove?", "opts": self.opts, "chosen": list(chosen)}
            context = {**self.admin_site.each_context(request), **given}
            return render(request, "admin/trackers/source/remove.html", context)
        count = life.remove(ids(chosen))
        self.message_user(request, f"{count:,} are not watched any more.", messages.SUCCESS)
        return None


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def ids(chosen: QuerySet[Source]) -> list[int]:
    return list(chosen.values_list("pk", flat=True))


@admin.register(Stream)
class StreamAdmin(MachineMade):
    list_display = ("name", "state", "because", "state_since", "heard_at", "lines", "connects")
    exclude = ("lease",)
