"""Columns: homes and sources side by side, each scrolled by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from trackers.dashboards import scroll_answers
from trackers.dashboards.access import SOURCES, TWEETS, needs
from trackers.dashboards.columns.models import Column
from trackers.dashboards.homes import User, page_of
from trackers.dashboards.parts import show
from trackers.dashboards.scroll_answers import Look
from trackers.dashboards.scrolled import OfHome, OfSource, Scrolled
from trackers.dashboards.tweet_rows import LABELS
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import current
from trackers.timelines.followers import Home, homes_of

MOST = 12
IN_A_COLUMN = 20
# More can be added from their own pages.
CHOICES_MOST = 200


@dataclass(frozen=True, slots=True)
class Shown:
    """A column and its contents."""

    id: int
    name: str
    address: str
    is_home: bool
    is_first: bool
    is_last: bool
    tweets: dict[str, Any]


@require_safe
@needs(TWEETS)
def columns(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    homes = homes_of(request.user)
    mine = of(request.user, homes)
    return render(
        request,
        "dashboards/columns/page.html",
        {
            "now": now,
            "labels": LABELS.values(),
            "columns": [shown(one, place, mine, homes) for place, one in enumerate(mine)],
            "may_add": len(mine) < MOST,
            "most": MOST,
            "homes": [home for home in homes if not has(mine, home)],
            "sources": choices(mine) if request.user.has_perm(SOURCES) else [],
        },
    )


@require_safe
@needs(TWEETS)
def column(request: HttpRequest, id: int) -> HttpResponse:
    """A single column, page by page."""
    found, homes = find(request.user, id)
    tweets = scrolled(found, homes)
    if rows := scroll_answers.part(request, tweets, look(found)):
        return rows
    return show(
        request,
        "dashboards/columns/alone.html",
        {},
        shared={"column": found},
        frame=lambda: scroll_answers.whole(tweets, Look(address(found)), request.GET),
    )


def find(user: User, id: int) -> tuple[Column, list[Home]]:
    """404 for another person's column, as for a missing one; 403 if no longer in its team."""
    homes = homes_of(user)
    try:
        found = Column.objects.select_related("source", "team").get(pk=id, user=user.pk)
    except (Column.DoesNotExist, OverflowError):
        raise Http404(f"There is no column {id}.") from None
    if found.source is None and not any(one.team_id == found.team_id for one in homes):
        raise PermissionDenied(
            "You are no longer a member of the team that this column shows. Remove the column, or "
            "ask an administrator to add you to the group again."
        )
    return found, homes


def of(user: User, homes: list[Home]) -> list[Column]:
    """In their order, without those of teams that the person has left."""
    teams = [one.team_id for one in homes]
    found = Column.objects.select_related("source", "team").filter(user=user.pk)
    return [one for one in found if one.source_id is not None or one.team_id in teams]


def shown(column: Column, place: int, mine: list[Column], homes: list[Home]) -> Shown:
    return Shown(
        id=column.pk,
        name=str(column),
        address=shows(column),
        is_home=column.source_id is None,
        is_first=place == 0,
        is_last=place == len(mine) - 1,
        tweets=scroll_answers.whole(scrolled(column, homes), look(column), QueryDict()),
    )


def look(column: Column) -> Look:
    return Look(address(column), prefix=f"column-{column.pk}-", limit=IN_A_COLUMN)


def address(column: Column) -> str:
    return reverse("column", args=[column.pk])


def shows(column: Column) -> str:
    """The page that shows all of it."""
    if column.source_id is not None:
        return reverse("source", args=[column.source_id])
    return page_of(column.team_id)


def scrolled(column: Column, homes: list[Home]) -> Scrolled:
    if column.source_id is not None:
        return OfSource(column.source_id)
    return OfHome(next(one.follower_id for one in homes if one.team_id == column.team_id))


def has(mine: list[Column], home: Home) -> bool:
    return any(one.source_id is None and one.team_id == home.team_id for one in mine)


def choices(mine: list[Column]) -> list[Source]:
    taken = [one.source_id for one in mine if one.source_id is not None]
    return list(Source.objects.exclude(pk__in=taken).order_by("-pk")[:CHOICES_MOST])
