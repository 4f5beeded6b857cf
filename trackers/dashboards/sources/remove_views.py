"""Removing a source: how many tweets came from it, and what is to become of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import needs, require_permission
from trackers.dashboards.page_acts import show_message
from trackers.dashboards.sources.detail_views import get_source
from trackers.history import on_page
from trackers.ingest.sources.acts import DELETE, remove_with_tweets
from trackers.ingest.sources.only_here import brought, only_here
from trackers.schedule.intervals import current
from tweetwatch.time_limits import TookTooLong, limit_time

# A person waits for the number: 40,000 take a tenth of a second.
_MAX_COUNTED = 40_000
# All of the counting: a person waits for it.
_MAX_COUNTING_TIME = timedelta(seconds=2)


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
    now, _ = current()
    context = {
        "now": now,
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
