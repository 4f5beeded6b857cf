"""Projects that X bills, and their apps: set budgets, and see what was spent."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import models
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.history import in_admin
from trackers.money import acts
from trackers.money.models import App, Project, Spending
from trackers.money.summary import MoneySummary, money_summaries
from tweetwatch.clock_times import clock_time
from tweetwatch.notation import to_the_minute

_DAYS_SHOWN = timedelta(days=31)
_BUDGETS = ("posts_a_day", "posts_a_month", "money_a_day", "money_a_month")
_PRICES = (
    "price_of_a_post", "price_of_an_owned_post", "price_of_a_user", "price_of_a_count",
    "price_of_an_archive_count",
)  # fmt: skip
_SPREAD_HELP = (
    "Leave empty for no limit. Without a daily budget, what is left is spread evenly "
    "over the remaining days."
)
_STATE_COLUMNS = (
    "today", "this_month", "left_today", "forecast", "depleted", "x_counts",
)  # fmt: skip


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", *_BUDGETS, *_PRICES)
        help_texts = {
            "name": "Any name; X's own name for it is best.",
            "posts_a_day": "How many different tweets may be looked up in one day. Leave empty "
            "for no limit.",
            "posts_a_month": f"Each tweet counts once on each day it is looked up. {_SPREAD_HELP}",
            "money_a_day": "Leave empty for no limit. If tweet-days are limited too, whichever "
            "limit is reached first applies.",
            "money_a_month": _SPREAD_HELP,
        }


class SpendingInline(admin.TabularInline):
    model = Spending
    verbose_name_plural = "spending by day (UTC, by X's clock)"
    extra = 0
    fields = readonly_fields = (
        "day", "posts", "posts_reserved", "users", "users_reserved", "counts",
        "archive_counts", "dollars",
        "x_counted",
    )  # fmt: skip
    can_delete = False

    @admin.display(description="US dollars")
    def dollars(self, spending: Spending) -> str:
        return f"{spending.money:,.2f}"

    @admin.display(description="posts by X's count")
    def x_counted(self, spending: Spending) -> str:
        return "unknown" if spending.reported_posts is None else f"{spending.reported_posts}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Spending]:
        since = timezone.now().date() - _DAYS_SHOWN
        return super().get_queryset(request).filter(day__gte=since)

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(ActingAdmin):
    form = ProjectForm
    list_display = ("name", "today", "this_month", "left_today", "forecast", "depleted", "x_counts")
    readonly_fields = _STATE_COLUMNS
    fieldsets = (
        (None, {"fields": ("name",)}),
        (
            "Budgets",
            {
                "fields": _BUDGETS,
                "description": "X bills a tweet once per UTC day, however often it is looked up: "
                "that is one tweet-day. When a budget is used up, tweets already "
                "paid for today are still checked; the others wait for the next "
                "UTC day, oldest first.",
            },
        ),
        (
            "Prices",
            {
                "fields": _PRICES,
                "description": "As on X's bill. All costs are calculated from these.",
            },
        ),
        ("Now", {"fields": _STATE_COLUMNS}),
    )
    inlines = (SpendingInline,)
    actions = ("go_on",)

    # Reads what was spent once for all rows, not once per row.
    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist = super().get_changelist_instance(request)
        _attach_books(changelist.result_list)
        return changelist

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Project | None:
        project = super().get_object(request, *args, **kwargs)
        _attach_books([project] if project else [])
        return project

    @admin.display(description="today")
    def today(self, project: Project) -> str:
        summary = _summary_of(project)
        return (
            _spending_text(summary.spent.posts_today, summary.spent.money_today) if summary else "-"
        )

    @admin.display(description="this month")
    def this_month(self, project: Project) -> str:
        summary = _summary_of(project)
        return (
            _spending_text(summary.spent.posts_month, summary.spent.money_month) if summary else "-"
        )

    @admin.display(description="left today")
    def left_today(self, project: Project) -> str:
        summary = _summary_of(project)
        if summary is None:
            return "-"
        return "no limit" if summary.left is None else f"{summary.left:,} tweet-days"

    @admin.display(description="forecast")
    def forecast(self, project: Project) -> str:
        summary = _summary_of(project)
        if summary is None or summary.left is None or project.needs is None:
            return "-"
        if not summary.can_pay:
            return "pays for nothing now"
        if not summary.waiting:
            return f"enough for today: about {project.needs:,} more needed"
        dry = ""
        if summary.runs_dry_at:
            at = clock_time(summary.runs_dry_at, now=timezone.now(), seconds=False)
            dry = f"runs dry at {at}; "
        return f"{dry}about {summary.waiting:,} tweets wait until 00:00 UTC, the oldest first"

    @admin.display(description="depleted")
    def depleted(self, project: Project) -> str:
        if not project.is_depleted(now=timezone.now()):
            return ""
        return f"until {_minute(project.depleted_until)}: {project.depleted_reason}"

    @admin.display(description="X's own count")
    def x_counts(self, project: Project) -> str:
        if project.usage_problem:
            return f"{project.usage_problem}{_credits_text(project)}"
        if project.usage_read_at is None:
            return "not read yet"
        read = f"read {_minute(project.usage_read_at)}"
        cap = "" if project.cap is None else f"; cap {project.cap:,}"
        if cap and project.cap_resets_on:
            cap += f", reset on {project.cap_resets_on:%-d %B}"
        cap += _credits_text(project)
        if project.drift is None:
            return f"covers none of our days, {read}{cap}"
        return (
            f"{project.usage_of_month:,} this month, {project.drift:+,} compared with ours, "
            f"{read}{cap}"
        )

    @admin.action(description="Continue: X has credits again", permissions=["change"])
    def go_on(self, request: HttpRequest, chosen: QuerySet[Project]) -> Done:
        return acts.go_on(list(chosen), in_admin(request.user))


def _credits_text(project: Project) -> str:
    if project.credits_left is None:
        return ""
    read = _minute(project.credits_read_at)
    return f"; ${project.credits_left:,.2f} of credits left, read {read}"


def _attach_books(projects: Iterable[Project]) -> None:
    by_project = {summary.project.pk: summary for summary in money_summaries()}
    for project in projects:
        setattr(project, "summary", by_project.get(project.pk))  # noqa: B010


def _summary_of(project: Project) -> MoneySummary | None:
    """None for an unsaved project."""
    summary: MoneySummary | None = getattr(project, "summary", None)
    return summary


def _spending_text(posts: int, money: Any) -> str:
    return f"{posts:,} tweet-days, ${money:,.2f}"


def _minute(at: datetime | None) -> str:
    return to_the_minute(at) if at else "-"


class AppForm(forms.ModelForm):
    class Meta:
        model = App
        fields = ("name", "project")
        help_texts = {
            "name": "Any name; X's own name for it is best. An app's bearer tokens share one "
            "rate limit.",
            "project": "X bills the project that the app belongs to. X allows one app per use "
            "case.",
        }


@admin.register(App)
class AppAdmin(admin.ModelAdmin):
    form = AppForm
    list_display = ("name", "project", "credentials")
    list_select_related = ("project",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[App]:
        return super().get_queryset(request).annotate(count=Count("credentials"))

    @admin.display(description="credentials", ordering="count")
    def credentials(self, app: App) -> int:
        return getattr(app, "count", 0)
