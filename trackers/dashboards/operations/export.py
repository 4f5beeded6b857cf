"""The queues over time as a file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import OPERATIONS, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.operations.over_time import SPANS
from trackers.jobs.observed.minutes import by_time
from tweetwatch.tables import Column, Table

COLUMNS = (
    Column("queue", "text"),
    Column("from", "time"),
    Column("most_due", "whole"),
    Column("longest_overdue_seconds", "number"),
    Column("done", "whole"),
    Column("failed", "whole"),
)


@require_safe
@needs(OPERATIONS)
def queues_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """For the time that the page shows, in the same steps."""
    over = request.GET.get("over", "")
    over = over if over in SPANS else "hour"
    span = SPANS[over]
    rows = (
        (name, one.at, one.due, one.oldest_due_seconds, one.measured, one.failed)
        for name, found in by_time(over=span.over, step=span.step).items()
        for one in found
    )
    return as_file(request, Table(f"queues-{over}", COLUMNS, rows), form)
