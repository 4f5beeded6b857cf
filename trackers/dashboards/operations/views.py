"""The page of operations: the queue's figures, money, the credentials' windows, the workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.credentials.models import Credential
from trackers.dashboards.access import VIEW_OPERATIONS, VIEW_TWEETS, needs
from trackers.dashboards.days_table import days_table
from trackers.dashboards.notices import notices, queue_states
from trackers.dashboards.operations.cards import (
    Bars,
    bars,
    cards,
    catch_up_card,
    catch_up_sentence,
    count_age,
    snapshot_card,
)
from trackers.dashboards.operations.database import checks, partition_rows, table_rows, wal_chart
from trackers.dashboards.operations.money import project_block
from trackers.dashboards.operations.over_time import (
    AN_HOUR,
    SPANS,
    isolated_keys,
    queues_over_time,
    troubled_tasks,
)
from trackers.dashboards.parts import PartReader, is_kiosk, render_parts
from trackers.dashboards.words import Moment, ago, ahead, commas
from trackers.jobs.models import Worker
from trackers.jobs.names import TWEET_UPDATE
from trackers.jobs.observed.database import health, wal_by_minute
from trackers.jobs.observed.minutes import by_time
from trackers.jobs.statistics import by_minute
from trackers.status import Status
from trackers.xapi.results import WindowSeen


@dataclass(frozen=True, slots=True)
class WindowGauge:
    endpoint: str
    limit: int
    limit_words: str
    remaining: int
    remaining_words: str
    resets: Moment
    is_over: bool


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """A credential as it may be shown: never its secrets."""

    id: int
    name: str
    kind: str
    state: str
    reason: str
    app: str
    project: str
    used: Moment | None
    gauges: tuple[WindowGauge, ...]


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A process in a cluster."""

    host: str
    pid: int
    kind: str
    started: Moment
    seen: Moment
    doing: str
    doing_since: Moment | None
    is_stale: bool


@require_safe
@needs(VIEW_OPERATIONS)
def operations(request: HttpRequest) -> HttpResponse:
    status = Status()
    now = status.now
    parts: dict[str, PartReader] = {
        "figures": lambda: _figures_now(status),
        "days": lambda: {"days": days_table(status.plan, now=now, is_whole=True)},
        "over-time": lambda: _over_time_context(request.GET.get("over", ""), now=now),
        "database": lambda: _database_context(status),
    }
    shared = {"now": now, "kiosk": is_kiosk(request)}
    return render_parts(request, "dashboards/operations/page.html", parts, shared=shared)


@require_safe
@needs(VIEW_TWEETS)
def status_strip(request: HttpRequest) -> HttpResponse:
    """A line of figures above the tweets, and what a person should do first."""
    status = Status()
    return render(
        request,
        "dashboards/operations/_strip.html",
        {
            "cards": (*cards(status.tweet_queue), catch_up_card(status.catch_up)),
            "count": count_age(status.tweet_queue, now=status.now),
            "notices": notices(now=status.now),
        },
    )


def _figures_now(status: Status) -> dict[str, object]:
    now, queue = status.now, status.tweet_queue
    drawn: Bars = bars(by_minute(TWEET_UPDATE), now=now)
    youngest = queue.oldest_urgent_seconds if len(status.plan.tiers) > 1 else None
    above = notices(now=now)
    behind = catch_up_sentence(
        status.catch_up,
        due=queue.due + queue.in_flight,
        youngest=youngest,
        said_above=[notice.sentence for notice in above],
    )
    hands = _worker_rows(status.workers, now=now)
    return {
        "cards": (
            *cards(queue),
            catch_up_card(status.catch_up),
            snapshot_card(status.oldest_snapshot),
        ),
        "count": count_age(queue, now=now),
        "behind": behind,
        "bars": drawn,
        "blocks": [project_block(one, now=now) for one in status.projects],
        "keys": [_credential_row(one, now=now) for one in status.credentials],
        "hands": hands,
        "silent": sum(hand.is_stale for hand in hands),
        "notices": above,
        "isolated": isolated_keys(),
        "queues": queue_states(status.queues, now=now),
    }


def _over_time_context(over: str, *, now: datetime) -> dict[str, object]:
    over = over if over in SPANS else "hour"
    span = SPANS[over]
    stretches = by_time(over=span.over, step=span.step)
    return {
        "over": over,
        "span": span,
        "spans": SPANS,
        "over_time": queues_over_time(stretches, span, now=now),
        "is_kept": any(stretches.values()),
        "troubled": troubled_tasks(now=now),
    }


def _database_context(status: Status) -> dict[str, object]:
    now, database_health = status.now, health()
    if database_health is None:
        return {"health": None}
    wal = wal_by_minute(over=AN_HOUR)
    return {
        "health": database_health,
        "checks": checks(
            database_health, status.oldest_snapshot, [written for _, written in wal], now=now
        ),
        "wal": wal_chart(wal, now=now),
        "tables": table_rows(database_health, now=now),
        "partitions": partition_rows(database_health),
    }


def _credential_row(credential: Credential, *, now: datetime) -> CredentialRow:
    return CredentialRow(
        id=credential.pk,
        name=credential.name,
        kind=f"{credential.get_kind_display()}, {credential.api}",
        state=credential.state,
        reason=credential.reason,
        app=credential.app.name,
        project=credential.project.name,
        used=ago(credential.used_at, now=now) if credential.used_at else None,
        gauges=tuple(_window_gauge(window, now=now) for window in credential.reported_windows()),
    )


def _window_gauge(window: WindowSeen, *, now: datetime) -> WindowGauge:
    return WindowGauge(
        endpoint=window.endpoint,
        limit=window.limit,
        limit_words=commas(window.limit),
        remaining=window.remaining,
        remaining_words=commas(window.remaining),
        resets=ahead(window.resets_at, now=now),
        is_over=window.resets_at <= now,
    )


def _worker_rows(rows: Iterable[Worker], *, now: datetime) -> list[WorkerRow]:
    """Those that fell silent come first."""
    return sorted((_worker_row(row, now=now) for row in rows), key=lambda one: not one.is_stale)


def _worker_row(worker: Worker, *, now: datetime) -> WorkerRow:
    return WorkerRow(
        host=worker.host,
        pid=worker.pid,
        kind=worker.get_kind_display(),
        started=ago(worker.started_at, now=now),
        seen=ago(worker.seen_at, now=now),
        doing=worker.doing,
        doing_since=ago(worker.doing_since, now=now)
        if worker.doing and worker.doing_since
        else None,
        is_stale=worker.seen_at <= now - Worker.SILENT_AFTER,
    )
