"""What a source brought and cost on each day, as a file."""

from __future__ import annotations

from datetime import date

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import SOURCES, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.sources.figure_views import find
from trackers.ingest.sources.days import days_of
from tweetwatch.tables import Column, Table

COLUMNS = (
    Column("day", "text"),
    Column("posts", "whole"),
    Column("repeats", "whole"),
    Column("late", "whole"),
    Column("tweet_days_billed", "whole"),
    Column("dollars", "number"),
)


@require_safe
@needs(SOURCES)
def source_days(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """All that are kept: three months."""
    found = days_of(find(id).pk, since=date.min)
    rows = (
        (one.day.isoformat(), one.posts, one.again, one.late, one.billed, float(one.money))
        for one in found
    )
    return as_file(request, Table(f"source-{id}-days", COLUMNS, rows), form)
