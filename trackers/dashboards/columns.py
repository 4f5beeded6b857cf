"""Columns: homes, sources and saved views side by side, each scrolled by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from trackers import history
from trackers.dashboards import scrolling
from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs, require_permission
from trackers.dashboards.homes import User, home_address, home_of
from trackers.dashboards.models import Column
from trackers.dashboards.parts import render_parts
from trackers.dashboards.scrolled_lists import HomeList, ScrolledList, SourceList, ViewList
from trackers.dashboards.scrolling import ScrollSettings
from trackers.history import on_page
from trackers.ingest.sources.models import Source
from trackers.saved_views.models import SavedView
from trackers.schedule.intervals import Plan, current
from trackers.timelines.followers import Home, homes_of
from trackers.tweets.labels import LABELS
from trackers.tweets.snowflake import LARGEST_ID

MAX_COLUMNS = 12
_COLUMN_PAGE_SIZE = 20
# More can be added from their own pages.
_MAX_CHOICES = 200
_STEPS = {"left": -1, "right": 1}
_LOST_VIEW = "A view that you no longer see"
_NO_VIEW = (
    "The saved view that this column shows was removed, or is not shared with you any more. Remove "
    "the column, or ask who made the view."
)


@dataclass(frozen=True, slots=True)
class ColumnContents:
    """A column and its contents."""

    id: int
    name: str
    address: str
    shows: str  # "home", "source" or "view"
    is_first: bool
    is_last: bool
    # None: the view was removed, or is not shared with the person any more.
    tweets: dict[str, Any] | None


@require_safe
@needs(VIEW_TWEETS)
def columns_page(request: HttpRequest) -> HttpResponse:
    read = current()
    homes, views = homes_of(request.user), _views_of(request.user)
    mine = _columns_of(request.user, homes)
    return render(
        request,
        "dashboards/columns/page.html",
        {
            "now": read[0],
            "labels": LABELS.values(),
            "columns": [
                _column_contents(column, place, mine, (homes, views), read)
                for place, column in enumerate(mine)
            ],
            "may_add": len(mine) < MAX_COLUMNS,
            "most": MAX_COLUMNS,
            "homes": [home for home in homes if not _has_column(mine, home)],
            "views": [view for id, view in views.items() if not _has_view(mine, id)],
            "sources": _sources_to_add(mine) if request.user.has_perm(VIEW_SOURCES) else [],
        },
    )


@require_safe
@needs(VIEW_TWEETS)
def column(request: HttpRequest, id: int) -> HttpResponse:
    """A single column, page by page."""
    column, tweets = _get_column(request.user, id)
    if rows := scrolling.part_response(request, tweets, _scroll_settings(column)):
        return rows
    return render_parts(
        request,
        "dashboards/columns/alone.html",
        {},
        shared={"column": column},
        frame=lambda: scrolling.scroll_context(
            tweets, ScrollSettings(_column_address(column)), request.GET
        ),
    )


def _views_of(user: User) -> dict[int, SavedView]:
    """The saved views that the person sees, by id."""
    return {view.pk: view for view in SavedView.objects.seen_by(user)[:_MAX_CHOICES]}


def _get_column(user: User, id: int) -> tuple[Column, ScrolledList]:
    """404 for another person's column, as for a missing one; 403 if no longer in its team."""
    try:
        column = Column.objects.select_related("source", "team").get(pk=id, user=user.pk)
    except (Column.DoesNotExist, OverflowError):
        raise Http404(f"There is no column {id}.") from None
    homes = homes_of(user)
    is_home = column.source_id is None and column.view_id is None
    if is_home and not any(home.team_id == column.team_id for home in homes):
        raise PermissionDenied(
            "You are no longer a member of the team that this column shows. Remove the column, or "
            "ask an administrator to add you to the group again."
        )
    scrolled = _scrolled_list(column, homes, _views_of(user) if column.view_id else {})
    if scrolled is None:
        raise PermissionDenied(_NO_VIEW)
    return column, scrolled


def _columns_of(user: User, homes: list[Home]) -> list[Column]:
    """In their order, without homes of teams that the person has left."""
    teams = [one.team_id for one in homes]
    found = Column.objects.select_related("source", "team").filter(user=user.pk)
    return [one for one in found if one.source_id or one.view_id or one.team_id in teams]


def _column_contents(
    column: Column,
    place: int,
    mine: list[Column],
    seen: tuple[list[Home], dict[int, SavedView]],
    read: tuple[datetime, Plan],
) -> ColumnContents:
    homes, views = seen
    scrolled = _scrolled_list(column, homes, views)
    view = views.get(column.view_id) if column.view_id else None
    context = None
    if scrolled is not None:
        settings = _scroll_settings(column)
        context = scrolling.scroll_context(scrolled, settings, QueryDict(), read=read)
    return ColumnContents(
        id=column.pk,
        name=_LOST_VIEW if scrolled is None else view.title if view else str(column),
        address=_content_address(column, view),
        shows="source" if column.source_id else "view" if column.view_id else "home",
        is_first=place == 0,
        is_last=place == len(mine) - 1,
        tweets=context,
    )


def _scroll_settings(column: Column) -> ScrollSettings:
    return ScrollSettings(
        _column_address(column), prefix=f"column-{column.pk}-", limit=_COLUMN_PAGE_SIZE
    )


def _column_address(column: Column) -> str:
    return reverse("column", args=[column.pk])


def _content_address(column: Column, view: SavedView | None) -> str:
    """The page that shows all of it; empty for a view that the person does not see."""
    if column.view_id is not None:
        return f"{reverse('tweets')}?{view.query}" if view else ""
    if column.source_id is not None:
        return reverse("source", args=[column.source_id])
    return home_address(column.team_id)


def _scrolled_list(
    column: Column, homes: list[Home], views: dict[int, SavedView]
) -> ScrolledList | None:
    """None: its view was removed, or is not shared with the person any more."""
    if column.source_id is not None:
        return SourceList(column.source_id)
    if column.view_id is not None:
        view = views.get(column.view_id)
        return ViewList(view.query) if view else None
    return HomeList(next(one.follower_id for one in homes if one.team_id == column.team_id))


def _has_column(mine: list[Column], home: Home) -> bool:
    return any(
        one.source_id is None and one.view_id is None and one.team_id == home.team_id
        for one in mine
    )


def _has_view(mine: list[Column], view: int) -> bool:
    return any(one.view_id == view for one in mine)


def _sources_to_add(mine: list[Column]) -> list[Source]:
    taken = [one.source_id for one in mine if one.source_id is not None]
    return list(Source.objects.exclude(pk__in=taken).order_by("-pk")[:_MAX_CHOICES])


@require_POST
@needs(VIEW_TWEETS)
def add_column(request: HttpRequest) -> HttpResponseRedirect:
    what = _requested_column(request)
    with transaction.atomic():
        mine = _lock_columns(request)
        if len(mine) >= MAX_COLUMNS:
            messages.error(request, f"You already have {MAX_COLUMNS} columns. Remove one first.")
            return redirect("columns")
        last = max((column.position for column in mine), default=0)
        made, is_new = Column.objects.get_or_create(
            **what, user_id=request.user.pk or 0, defaults={"position": last + 1}
        )
    if is_new:
        history.record(on_page(request.user), [made], "Added a column", flag=history.ADDITION)
    messages.success(request, f"{made} is {'a column now' if is_new else 'a column already'}.")
    return redirect("columns")


@require_POST
@needs(VIEW_TWEETS)
def act_on_column(request: HttpRequest, id: int, act: str) -> HttpResponseRedirect:
    if act not in ("remove", *_STEPS):
        raise Http404(f"There is no action {act}.")
    with transaction.atomic():
        mine = _lock_columns(request)
        place = next((nth for nth, column in enumerate(mine) if column.pk == id), None)
        if place is None:
            raise Http404(f"There is no column {id}.")
        chosen = mine.pop(place)
        if act == "remove":
            what, flag = "Removed a column", history.DELETION
            Column.objects.filter(pk=id).delete()
        else:
            what, flag = f"Moved to the {act}", history.CHANGE
            mine.insert(max(0, place + _STEPS[act]), chosen)
        history.record(on_page(request.user), [chosen], what, flag=flag)
        _renumber(mine)
    return redirect("columns")


def _lock_columns(request: HttpRequest) -> list[Column]:
    """The person's columns in their order, locked against other changes."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=request.user.pk or 0)
    return list(Column.objects.filter(user=request.user.pk))


def _renumber(columns: list[Column]) -> None:
    for place, column in enumerate(columns):
        column.position = place
    Column.objects.bulk_update(columns, ["position"])


def _requested_column(request: HttpRequest) -> dict[str, int | None]:
    """404 if there is no such thing to show, 403 if not a member of that team."""
    kind, _, id = request.POST.get("shows", "").partition(":")
    wanted = int(id) if id.isascii() and id.isdecimal() and len(id) <= 19 else None
    if kind == "home" and (wanted is not None or not id):
        return _subject(team=home_of(request.user, wanted).team_id)
    is_id = wanted is not None and wanted <= LARGEST_ID
    if kind == "source":
        require_permission(request, VIEW_SOURCES)
    if kind == "source" and is_id and Source.objects.filter(pk=wanted or 0).exists():
        return _subject(source=wanted)
    seen = SavedView.objects.seen_by(request.user)
    if kind == "view" and is_id and seen.filter(pk=min(wanted or 0, 2**31 - 1)).exists():
        return _subject(view=wanted)
    raise Http404("This cannot be shown in a column.")


def _subject(**what: int | None) -> dict[str, int | None]:
    return {f"{name}_id": what.get(name) for name in ("source", "team", "view")}
