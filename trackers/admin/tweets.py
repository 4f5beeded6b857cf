"""Tweets, which have their page; their authors, changes to many tweets at once, and the figures at
which a tweet is worth an event.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from trackers.admin.actions import RedirectAdmin
from trackers.admin.readonly import ReadOnlyAdmin
from trackers.milestones.models import Milestone
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Author, Tweet

_ESTIMATE_ROWS = "SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass"

# Up to this many rows are counted: fast enough, and exact where a person could check.
_MAX_EXACT_COUNT = 50_000


class EstimatingPaginator(Paginator):
    """Pages of a big table without counting it: the planner's estimate is good enough."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        if rows.query.where:
            return int(rows[:_MAX_EXACT_COUNT].count())
        with connection.cursor() as cursor:
            cursor.execute(_ESTIMATE_ROWS, [rows.model._meta.db_table])
            estimated = int(cursor.fetchone()[0])
        # Below 0: never analyzed.
        return estimated if estimated > _MAX_EXACT_COUNT else int(rows.order_by().count())


@admin.register(Tweet)
class TweetAdmin(RedirectAdmin):
    page = "tweet"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Where they are listed they are tracked, too."""
        return False

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return self.changelist_view(request)


@admin.register(Author)
class AuthorAdmin(ReadOnlyAdmin):
    list_display = ("id", "username", "name", "protected", "checked_at")
    search_fields = ("=id", "username__istartswith")
    show_full_result_count = False
    paginator = EstimatingPaginator
    ordering = ("-id",)


@admin.register(BulkAct)
class BulkActAdmin(ReadOnlyAdmin):
    """Their pages show how far they are, and stop them."""

    list_display = ("what", "by", "begun_at", "progress", "finished_at", "was_stopped")
    list_display_links = None
    show_full_result_count = False

    @admin.display(description="what")
    def what(self, act: BulkAct) -> str:
        return format_html('<a href="{}">{}</a>', reverse("tweets-progress", args=[act.pk]), act)

    @admin.display(description="progress")
    def progress(self, act: BulkAct) -> str:
        return f"{act.seen:,} of {act.tweets:,} ({act.percent}%)"

    def has_view_permission(self, request: HttpRequest, obj: BulkAct | None = None) -> bool:
        """Those who may begin one see how far it is."""
        theirs = ("trackers.view_bulkact", "trackers.change_tweet", "trackers.delete_tweet")
        return any(map(request.user.has_perm, theirs))


@admin.register(Milestone)
class MilestoneAdmin(admin.ModelAdmin):
    list_display = ("metric", "reached", "again")
    list_display_links = ("reached",)
    list_filter = ("metric",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Milestone]:
        return Milestone.objects.shared()

    @admin.display(description="at", ordering="at")
    def reached(self, milestone: Milestone) -> str:
        return f"{milestone.at:,}"

    # A method of the field's own name would not be called.
    @admin.display(description="counts again after falling below", ordering="low")
    def again(self, milestone: Milestone) -> str:
        return f"{milestone.low:,}"
