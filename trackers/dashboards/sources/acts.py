"""A source is changed, or removed, on a page of its own; acts on one from its page, or on many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from trackers.dashboards.access import VIEW_SOURCES, needs, require_permission
from trackers.dashboards.page_acts import act_on, confirmation_page, form_page, show_message
from trackers.dashboards.sources.detail_views import get_source
from trackers.dashboards.sources.list_views import MAX_SOURCES
from trackers.history import on_page
from trackers.ingest.sources.acts import ACTS, CHANGE, DELETE, change, remove_with_tweets
from trackers.ingest.sources.forms import SourceForm
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.only_here import brought, only_here
from tweetwatch.time_limits import TookTooLong, limit_time

_MAX_SOURCES_NAMED = 20
# A person waits for the number: 40,000 take a tenth of a second.
_MAX_COUNTED = 40_000
# All of the counting: a person waits for it.
_MAX_COUNTING_TIME = timedelta(seconds=2)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(CHANGE)
def edit_source(request: HttpRequest, id: int) -> HttpResponse:
    source = get_source(id)
    name = str(source)
    form = SourceForm(request.POST if request.method == "POST" else None, instance=source)
    if form.is_valid() and (done := change(form, on_page(request.user))):
        messages.success(request, done.message)
        return redirect("source", id=id)
    return form_page(request, "dashboards/sources/edit.html", form, source=source, name=name)


@require_POST
@needs(VIEW_SOURCES)
def act_on_source(request: HttpRequest, id: int, act: str) -> HttpResponse:
    return act_on(request, ACTS, act, find=get_source, id=id, page="source")


@require_POST
@needs(CHANGE)
def act_on_ticked(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("act", "")
    act = ACTS.get(name)
    # What asks first does so on the page of one.
    if act is None or act.asks:
        raise Http404(f"There is no action {name[:40]!r} for sources.")
    require_permission(request, act.permission)
    ids = [
        int(id) for id in request.POST.getlist("ids")[:MAX_SOURCES] if re.fullmatch(r"\d{1,18}", id)
    ]
    sources = list(Source.objects.filter(pk__in=ids).order_by("pk"))
    if not sources:
        messages.error(request, "No sources were chosen. Tick some in the list.")
        return redirect("sources")
    if act.leaves:
        question = (
            f"Remove {_source_names(sources)}? The tweets stay tracked. This cannot be undone."
        )
        if page := confirmation_page(request, question, button="Remove", back=reverse("sources")):
            return page
    for source in sources:
        done = act.do(source, on_page(request.user))
        show_message(request, done)
    return redirect("sources")


def _source_names(sources: list[Source]) -> str:
    more = len(sources) - _MAX_SOURCES_NAMED
    names = [str(source) for source in sources[:_MAX_SOURCES_NAMED]]
    return ", ".join([*names, *([f"and {more} more"] if more > 0 else [])])


@dataclass(frozen=True, slots=True)
class BoundedCount:
    is_any: bool
    words: str  # as “1,234”, or “more than 40,000” where that is all that is known


@require_http_methods(["GET", "HEAD", "POST"])
@needs(DELETE)
def source_remove(request: HttpRequest, id: int) -> HttpResponse:
    source = get_source(id)
    if request.method == "POST":
        require_permission(request, "trackers.delete_tweet")
        done = remove_with_tweets(source, on_page(request.user))
        show_message(request, done)
        return redirect("sources")
    context = {
        "source": source,
        "brought": _count_in_words(brought(source)),
        "only_here": _count_in_words(only_here(source)),
    }
    return render(request, "dashboards/sources/remove.html", context)


def _count_in_words(rows: QuerySet[Any]) -> BoundedCount:
    try:
        with limit_time(_MAX_COUNTING_TIME):
            count = rows.order_by()[: _MAX_COUNTED + 1].count()
    except TookTooLong:
        return BoundedCount(True, "too many to count here")
    words = f"more than {_MAX_COUNTED:,}" if count > _MAX_COUNTED else f"{count:,}"
    return BoundedCount(count > 0, words)
