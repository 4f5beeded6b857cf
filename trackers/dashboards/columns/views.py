"""Columns: homes and sources side by side, each scrolled by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards import scroll_responses
from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs
from trackers.dashboards.columns.models import Column
from trackers.dashboards.homes import User, home_address
from trackers.dashboards.parts import render_parts
from trackers.dashboards.scroll_responses import ScrollSettings
from trackers.dashboards.scrolled_lists import HomeList, ScrolledList, SourceList
from trackers.dashboards.tweet_rows import LABELS
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import current
from trackers.timelines.followers import Home, homes_of

MAX_COLUMNS = 12
_COLUMN_PAGE_SIZE = 20
# More can be added from their own pages.
_MAX_CHOICES = 200


@dataclass(frozen=True, slots=True)
class ColumnContents:
    """A column and its contents."""

    id: int
    name: str
    address: str
    is_home: bool
    is_first: bool
    is_last: bool
    tweets: dict[str, Any]


@require_safe
@needs(VIEW_TWEETS)
def columns_page(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    homes = homes_of(request.user)
    mine = _columns_of(request.user, homes)
    return render(
        request,
        "dashboards/columns/page.html",
        {
            "now": now,
            "labels": LABELS.values(),
            "columns": [
                _column_contents(column, place, mine, homes) for place, column in enumerate(mine)
            ],
            "may_add": len(mine) < MAX_COLUMNS,
            "most": MAX_COLUMNS,
            "homes": [home for home in homes if not _has_column(mine, home)],
            "sources": _sources_to_add(mine) if request.user.has_perm(VIEW_SOURCES) else [],
        },
    )


@require_safe
@needs(VIEW_TWEETS)
def column(request: HttpRequest, id: int) -> HttpResponse:
    """A single column, page by page."""
    column, homes = _get_column(request.user, id)
    tweets = _scrolled_list(column, homes)
    if rows := scroll_responses.part_response(request, tweets, _scroll_settings(column)):
        return rows
    return render_parts(
        request,
        "dashboards/columns/alone.html",
        {},
        shared={"column": column},
        frame=lambda: scroll_responses.scroll_context(
            tweets, ScrollSettings(_column_address(column)), request.GET
        ),
    )


def _get_column(user: User, id: int) -> tuple[Column, list[Home]]:
    """404 for another person's column, as for a missing one; 403 if no longer in its team."""
    homes = homes_of(user)
    try:
        column = Column.objects.select_related("source", "team").get(pk=id, user=user.pk)
    except (Column.DoesNotExist, OverflowError):
        raise Http404(f"There is no column {id}.") from None
    if column.source is None and not any(home.team_id == column.team_id for home in homes):
        raise PermissionDenied(
            "You are no longer a member of the team that this column shows. Remove the column, or "
            "ask an administrator to add you to the group again."
        )
    return column, homes


def _columns_of(user: User, homes: list[Home]) -> list[Column]:
    """In their order, without those of teams that the person has left."""
    teams = [one.team_id for one in homes]
    found = Column.objects.select_related("source", "team").filter(user=user.pk)
    return [one for one in found if one.source_id is not None or one.team_id in teams]


def _column_contents(
    column: Column, place: int, mine: list[Column], homes: list[Home]
) -> ColumnContents:
    return ColumnContents(
        id=column.pk,
        name=str(column),
        address=_content_address(column),
        is_home=column.source_id is None,
        is_first=place == 0,
        is_last=place == len(mine) - 1,
        tweets=scroll_responses.scroll_context(
            _scrolled_list(column, homes), _scroll_settings(column), QueryDict()
        ),
    )


def _scroll_settings(column: Column) -> ScrollSettings:
    return ScrollSettings(
        _column_address(column), prefix=f"column-{column.pk}-", limit=_COLUMN_PAGE_SIZE
    )


def _column_address(column: Column) -> str:
    return reverse("column", args=[column.pk])


def _content_address(column: Column) -> str:
    """The page that shows all of it."""
    if column.source_id is not None:
        return reverse("source", args=[column.source_id])
    return home_address(column.team_id)


def _scrolled_list(column: Column, homes: list[Home]) -> ScrolledList:
    if column.source_id is not None:
        return SourceList(column.source_id)
    return HomeList(next(one.follower_id for one in homes if one.team_id == column.team_id))


def _has_column(mine: list[Column], home: Home) -> bool:
    return any(one.source_id is None and one.team_id == home.team_id for one in mine)


def _sources_to_add(mine: list[Column]) -> list[Source]:
    taken = [one.source_id for one in mine if one.source_id is not None]
    return list(Source.objects.exclude(pk__in=taken).order_by("-pk")[:_MAX_CHOICES])
