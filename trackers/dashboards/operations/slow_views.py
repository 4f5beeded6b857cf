"""Parts of the page of operations that change slowly, each polled every half minute."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import OPERATIONS, needs
from trackers.dashboards.days import days
from trackers.dashboards.operations.database import checks, partitions, tables, wal_chart
from trackers.dashboards.operations.over_time import HOUR, SPANS, queues_over_time
from trackers.dashboards.operations.troubled import troubled_tasks
from trackers.jobs.horizon import horizon
from trackers.jobs.observed.database import health, wal_by_minute
from trackers.jobs.observed.minutes import by_time
from trackers.schedule.intervals import current


@require_safe
@needs(OPERATIONS)
def over_time_now(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/operations/_over_time.html", over_time(request))


@require_safe
@needs(OPERATIONS)
def database_now(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/operations/_database.html", database())


@require_safe
@needs(OPERATIONS)
def days_now(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/operations/_days.html", whole_days())


def whole_days() -> dict[str, object]:
    now, plan = current()
    return {"now": now, "days": days(plan, now=now, is_whole=True)}


def over_time(request: HttpRequest) -> dict[str, object]:
    now, _ = current()
    over = request.GET.get("over", "")
    over = over if over in SPANS else "hour"
    span = SPANS[over]
    found = by_time(over=span.over, step=span.step)
    return {
        "now": now,
        "over": over,
        "span": span,
        "spans": SPANS,
        "over_time": queues_over_time(found, span, now=now),
        "is_kept": any(found.values()),
        "troubled": troubled_tasks(now=now),
    }


def database() -> dict[str, object]:
    now, _ = current()
    found = health()
    if found is None:
        return {"now": now, "health": None}
    wal = wal_by_minute(over=HOUR)
    return {
        "now": now,
        "health": found,
        "checks": checks(found, horizon(), [written for _, written in wal], now=now),
        "wal": wal_chart(wal, now=now),
        "tables": tables(found, now=now),
        "partitions": partitions(found),
    }
