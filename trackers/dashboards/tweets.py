"""The page of tweets, and its rows alone for the polls."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import staff_only
from trackers.dashboards.rows import LABELS, rows
from trackers.dashboards.search import Wanted, page, wanted
from trackers.dashboards.state import STATES
from trackers.schedule.intervals import current


@require_safe
@staff_only
def tweets(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/tweets.html", shown(wanted(request.GET)))


@require_safe
@staff_only
def tweet_rows(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/_rows.html", shown(wanted(request.GET)))


def shown(wanted: Wanted) -> dict[str, object]:
    now, plan = current()
    found = page(wanted)
    return {
        "now": now,
        "wanted": wanted,
        "page": found,
        "rows": rows(found.tweets, plan, now=now),
        "labels": LABELS.values(),
        "states": STATES.items(),
    }
