"""Add a column, move it, remove it: a POST, and back to the columns."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from trackers import history
from trackers.dashboards.access import VIEW_SOURCES, VIEW_TWEETS, needs, require_permission
from trackers.dashboards.columns.models import Column
from trackers.dashboards.columns.views import MAX_COLUMNS
from trackers.dashboards.homes import home_of
from trackers.history import on_page
from trackers.ingest.sources.models import Source
from trackers.tweets.snowflake import LARGEST_ID

_STEPS = {"left": -1, "right": 1}


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
        return {"source_id": None, "team_id": home_of(request.user, wanted).team_id}
    is_id = wanted is not None and wanted <= LARGEST_ID
    if kind == "source":
        require_permission(request, VIEW_SOURCES)
    if kind == "source" and is_id and Source.objects.filter(pk=wanted or 0).exists():
        return {"source_id": wanted, "team_id": None}
    raise Http404("This cannot be shown in a column.")
