"""Sources: add, configure, pause, poll now, and remove them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from trackers.admin.outcome import report
from trackers.admin.readonly import MachineMade
from trackers.admin.recorded import Recorded
from trackers.ingest.sources import life
from trackers.ingest.sources.forms import MAIN, SourceForm
from trackers.ingest.sources.models import Gap, Source, Stream
from trackers.ingest.sources.naming import short
from trackers.schedule.durations import spell

GAPS_SHOWN = 20
NAME_SHOWN, NAMED_MOST = 40, 100
NOW = (
    "now", "paused_at", "polled_at", "yielded", "again", "leaked", "overlapped_at", "skew",
    "account_id", "username", "created_at", "gaps",
)  # fmt: skip
POLLS = ("every", "pages", "backfill", "late_by")
LEFT_OUT = ("exclude_replies", "exclude_retweets")
OURS = ("priority", "owner")


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
    """A link needs words, even for sources without an owner."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or "no owner"}


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
        """Hides what does not apply: a stream is not polled, and a file was read once."""
        source = obj or Source()
        polls = (
            "Polling",
            {"fields": POLLS, "description": self.form(instance=source).cost},
        )
        leaves = ("Filters", {"fields": LEFT_OUT})
        ours = ("Owner and priority", {"fields": OURS})
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

    def has_delete_permission(self, request: HttpRequest, obj: Source | None = None) -> bool:
        """Django's own page would list every tweet that came from it; use the action instead."""
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("trackers.delete_source")

    def save_model(self, request: HttpRequest, obj: Source, form: SourceForm, change: bool) -> None:
        if change:
            # The others may be written by a poll at this moment.
            if told := life.change(obj, form.changed_data):
                self.message_user(request, told, messages.WARNING)
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

    @admin.display(description="open gaps", ordering="open_gaps")
    def gaps_open(self, source: Source) -> int:
        return getattr(source, "open_gaps", 0)

    @admin.display(description="status")
    def on_its_page(self, source: Source) -> str:
        return format_html('<a href="{}">page</a>', reverse("source", args=[source.pk]))

    @admin.display(description="Status")
    def now(self, source: Source) -> str:
        said = source.problem or source.hidden_because or "see its page"
        return format_html('<a href="{}">{}</a>', reverse("source", args=[source.pk]), said)

    @admin.display(description="Gaps")
    def gaps(self, source: Source) -> str:
        """The open ones first. As a text: rows of a form would be more fields than Django takes."""
        if source.pk is None:
            return "-"
        newest = source.gaps.order_by(F("closed_at").desc(nulls_first=True), "-found_at", "-pk")
        shown = [(gap, state_of(gap)) for gap in newest[:GAPS_SHOWN]]
        if not shown:
            return "none"
        told = format_html_join("", "<li>{}: {}</li>", shown)
        all_of_them = reverse("source", args=[source.pk])
        return format_html('<ul>{}</ul><a href="{}">All on its page</a>', told, all_of_them)

    @admin.action(description="Poll now", permissions=["change"])
    def poll_now(self, request: HttpRequest, chosen: QuerySet[Source]) -> None:
        count = life.poll_now(ids(chosen))
        nothing = "Nothing to poll: paused, or a finished import. Choose Resume first."
        report(self, request, count, done="Polled next: {}.", nothing=nothing)

    @admin.action(description="Pause", permissions=["change"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Source]) -> None:
        count = life.pause(ids(chosen))
        nothing = "Nothing to pause: already paused. Choose Resume to continue."
        report(self, request, count, done="Paused {}.", nothing=nothing)

    @admin.action(description="Resume", permissions=["change"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Source]) -> None:
        count = life.resume(ids(chosen))
        nothing = "Nothing to resume: not paused. Choose Poll now to read at once."
        report(self, request, count, done="Resumed {}.", nothing=nothing)

    @admin.action(description="Remove: their tweets stay tracked", permissions=["end"])
    def remove(self, request: HttpRequest, chosen: QuerySet[Source]) -> HttpResponse | None:
        if request.POST.get("sure") != "yes":
            across = request.POST.get("select_across") == "1"
            # For all in the list the address says which; one field for each id may be too many.
            ticked = request.POST.getlist(helpers.ACTION_CHECKBOX_NAME)
            given = {
                "title": "Remove?",
                "opts": self.opts,
                "count": chosen.count(),
                "chosen": list(chosen[:NAMED_MOST]),
                "across": across,
                "ticked": ticked[:1] if across else ticked,
            }
            context = {**self.admin_site.each_context(request), **given}
            return render(request, "admin/trackers/source/remove.html", context)
        count = life.remove(ids(chosen))
        nothing = "Nothing to remove: removed already. Reload this list."
        report(self, request, count, done="Removed {}; their tweets stay tracked.", nothing=nothing)
        return None


def state_of(gap: Gap) -> str:
    of = f": of “{short(gap.was_of)}”" if gap.was_of else ""
    if gap.closed_at:
        return f"{'given up' if gap.is_given_up else 'filled'} {gap.closed_at:%Y-%m-%d %H:%M}{of}"
    return f"lost{of}" if gap.is_lost else "open"


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def ids(chosen: QuerySet[Source]) -> list[int]:
    return list(chosen.values_list("pk", flat=True))


@admin.register(Stream)
class StreamAdmin(MachineMade):
    list_display = ("name", "state", "because", "state_since", "heard_at", "lines", "connects")
    exclude = ("lease",)
