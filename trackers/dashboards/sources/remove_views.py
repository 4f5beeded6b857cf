"""Removing a source: how many tweets came from it, and what is to become of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import demand, needs
from trackers.dashboards.carry_out import say
from trackers.dashboards.sources.detail_views import find
from trackers.history import on_page
from trackers.ingest.sources.acts import DELETE, remove_with_tweets
from trackers.ingest.sources.only_here import brought, only_here
from trackers.schedule.intervals import current
from tweetwatch.bounded import TookTooLong, bounded

# A person waits for the number: 40,000 take a tenth of a second.
COUNTED_MOST = 40_000
# All of the counting: a person waits for it.
COUNTING_TAKES = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Count:
    """`words`: as “1,234”, or “more than 40,000” where that is all that is known."""

    is_any: bool
    words: str


@require_http_methods(["GET", "HEAD", "POST"])
@needs(DELETE)
def source_remove(request: HttpRequest, id: int) -> HttpResponse:
    source = find(id)
    if request.method == "POST":
        demand(request, "trackers.delete_tweet")
        done = remove_with_tweets(source, on_page(request.user))
        say(request, done)
        return redirect("sources")
    now, _ = current()
    given = {
        "now": now,
        "source": source,
        "brought": counted(brought(source)),
        "only_here": counted(only_here(source)),
    }
    return render(request, "dashboards/sources/remove.html", given)


def counted(rows: QuerySet[Any]) -> Count:
    try:
        with bounded(COUNTING_TAKES):
            count = rows.order_by()[: COUNTED_MOST + 1].count()
    except TookTooLong:
        return Count(True, "too many to count here")
    words = f"more than {COUNTED_MOST:,}" if count > COUNTED_MOST else f"{count:,}"
    return Count(count > 0, words)
