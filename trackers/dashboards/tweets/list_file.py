"""All tweets that the page would show, on all of its pages, as a file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.exports import as_file
from trackers.listing.lines import table
from trackers.listing.wanted import wanted
from trackers.schedule.intervals import current


@require_safe
@needs(TWEETS)
def tweets_file(request: HttpRequest, form: str) -> HttpResponseBase:
    now, _ = current()
    return as_file(request, table(wanted(request.GET), now=now), form)
