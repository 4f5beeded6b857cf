"""The page of operations: the queue's figures, money, the credentials' windows, the workers."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_OPERATIONS, needs
from trackers.dashboards.days_table import days_table
from trackers.dashboards.figures import Figure, catch_up_figure, summary_figures
from trackers.dashboards.notices import notices, why_idle
from trackers.dashboards.operations.cards import (
    bars,
    catch_up_sentence,
    count_age,
    snapshot_figure,
)
from trackers.dashboards.operations.database import (
    checks,
    large_tables,
    partitions_with_starts,
    wal_chart,
)
from trackers.dashboards.operations.money import project_blocks
from trackers.dashboards.operations.over_time import (
    AN_HOUR,
    failed_lately,
    isolated_keys,
    over_time_context,
    troubled_tasks,
)
from trackers.dashboards.parts import PartReader, is_kiosk, render_parts
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.observed.database import health, wal_by_minute
from trackers.jobs.observed.models import Worker
from trackers.jobs.statistics import by_minute
from trackers.status import Status


@dataclass(frozen=True, slots=True)
class _Tab:
    name: str
    words: str
    parts: tuple[str, ...]
    address: str


_TABS = {
    tab.name: tab
    for tab in (
        _Tab("now", "Now", ("figures", "days"), "./"),
        _Tab("workers", "Workers", ("workers",), "?tab=workers"),
        _Tab("queues", "Queues", ("queues", "over-time"), "?tab=queues"),
        _Tab("database", "Database", ("database",), "?tab=database"),
    )
}


@require_safe
@needs(VIEW_OPERATIONS)
def operations(request: HttpRequest) -> HttpResponse:
    status = Status()
    now = status.now
    parts: dict[str, PartReader] = {
        "figures": lambda: _figures_now(status),
        "days": lambda: {"days": days_table(status.plan, now=now, is_whole=True)},
        "workers": lambda: _workers_context(status),
        "queues": lambda: {"queues": [(queue, queue.held(now=now)) for queue in status.queues]},
        "over-time": lambda: over_time_context(request, now=now),
        "database": lambda: _database_context(status),
    }
    tab = request.GET.get("tab", "")
    tab = tab if tab in _TABS else "now"
    return render_parts(
        request,
        "dashboards/operations/page.html",
        {name: parts[name] for name in _TABS[tab].parts},
        alone=parts,
        shared={"now": now, "kiosk": is_kiosk(request), "tab": tab, "tabs": _TABS.values()},
    )


def _figures_of_the_queue(status: Status) -> tuple[Figure, ...]:
    figures = summary_figures(status.tweet_queue)
    catch_up = catch_up_figure(status.catch_up, idle=why_idle(now=status.now))
    return (*(getattr(figures, field.name) for field in fields(figures)), catch_up)


def _figures_now(status: Status) -> dict[str, object]:
    now, queue = status.now, status.tweet_queue
    youngest = queue.oldest_urgent_seconds if len(status.plan.tiers) > 1 else None
    above = notices(now=now)
    behind = catch_up_sentence(
        status.catch_up,
        due=queue.due + queue.in_flight,
        youngest=youngest,
        said_above=[notice.sentence for notice in above],
    )
    return {
        "figures": (*_figures_of_the_queue(status), snapshot_figure(status.oldest_snapshot)),
        "count": count_age(queue, now=now),
        "behind": behind,
        "bars": bars(by_minute(TWEET_UPDATE), now=now),
        "blocks": project_blocks(status),
        "credentials": [
            (credential, credential.reported_windows()) for credential in status.credentials
        ],
        "silent": _silent(status),
        "failed": failed_lately(now=now),
        "notices": above,
        "isolated": isolated_keys(),
    }


def _workers_context(status: Status) -> dict[str, object]:
    silent = _silent(status)
    return {
        "workers": sorted(status.workers, key=lambda worker: worker not in silent),
        "silent": silent,
        "troubled": troubled_tasks(),
    }


def _silent(status: Status) -> list[Worker]:
    """Those that stopped without a word."""
    silent_since = status.now - Worker.SILENT_AFTER
    return [worker for worker in status.workers if worker.seen_at <= silent_since]


def _database_context(status: Status) -> dict[str, object]:
    now, database_health = status.now, health()
    if database_health is None:
        return {"health": None}
    wal = wal_by_minute(over=AN_HOUR)
    return {
        "health": database_health,
        "checks": checks(
            database_health,
            status.oldest_snapshot,
            [written for _, written in wal],
            status.standby,
            now=now,
        ),
        "wal": wal_chart(wal, now=now),
        "tables": large_tables(database_health),
        "partitions": partitions_with_starts(database_health),
    }
