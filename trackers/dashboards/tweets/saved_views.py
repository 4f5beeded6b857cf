"""A person's saved views of the tweets: renamed, ordered, removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from trackers import history
from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.history import on_page
from trackers.listing.query import parse_id
from trackers.saved_views.models import SavedView


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_TWEETS)
def saved_views(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        _arrange(request)
        return redirect("saved-views")
    views = SavedView.objects.filter(user=request.user.pk)
    return render(request, "dashboards/tweets/saved_views.html", {"saved": views})


@transaction.atomic
def _arrange(request: HttpRequest) -> None:
    """Rename them as the form says, and move the one whose button it was up by one."""
    # Lock: the person's row, as where a view is saved, so that no two orders are written at once.
    get_user_model().objects.select_for_update(no_key=True).get(pk=request.user.pk or 0)
    views = list(SavedView.objects.filter(user=request.user.pk))
    names = {view.pk: _name_in(request.POST, view) for view in views}
    if len(set(names.values())) < len(names):
        messages.error(request, "Two views have the same name. Nothing was changed.")
        return
    moved = _moved_up(views, parse_id(request.POST.get("up", "")))
    changed = []
    for place, view in enumerate(moved, start=1):
        if (view.name, view.position) != (names[view.pk], place):
            view.name, view.position = names[view.pk], place
            changed.append(view)
    # No name is taken while another one still has it.
    for view in changed:
        SavedView.objects.filter(pk=view.pk).update(name=f"\x01{view.pk}")
    SavedView.objects.bulk_update(changed, ["name", "position"])
    history.record(on_page(request.user), changed, "Arranged the saved views")


def _name_in(form: Mapping[str, str], view: SavedView) -> str:
    """As it was where nothing is typed."""
    return form.get(f"name-{view.pk}", "").replace("\0", "").strip()[:60] or view.name


def _moved_up(views: Sequence[SavedView], id: int | None) -> list[SavedView]:
    moved = list(views)
    for place, view in enumerate(views):
        if view.pk == id and place:
            moved[place - 1 : place + 1] = [view, views[place - 1]]
    return moved
