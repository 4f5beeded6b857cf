"""The page of operations: the queue's figures, money, the credentials' windows, the workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.credentials.models import Credential
from trackers.dashboards.access import OPERATIONS, TWEETS, needs
from trackers.dashboards.days import days
from trackers.dashboards.kiosk import is_kiosk
from trackers.dashboards.notices import notices
from trackers.dashboards.operations.bars import Bars, bars
from trackers.dashboards.operations.cards import cards, count, oldest_snapshot
from trackers.dashboards.operations.catch_up import card_of, sentence_of
from trackers.dashboards.operations.database import checks, partitions, tables, wal_chart
from trackers.dashboards.operations.money import block
from trackers.dashboards.operations.over_time import HOUR, SPANS, queues_over_time
from trackers.dashboards.operations.troubled import isolated_keys, troubled_tasks
from trackers.dashboards.parts import Read, show
from trackers.dashboards.queues import queues
from trackers.dashboards.words import Moment, ago, ahead, counted
from trackers.jobs.figures import by_minute
from trackers.jobs.models import Worker
from trackers.jobs.observed.database import health, wal_by_minute
from trackers.jobs.observed.minutes import by_time
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.status import Status
from trackers.xapi.results import WindowSeen


@dataclass(frozen=True, slots=True)
class Gauge:
    endpoint: str
    limit: int
    limit_words: str
    remaining: int
    remaining_words: str
    resets: Moment
    is_over: bool


@dataclass(frozen=True, slots=True)
class Key:
    """A credential as it may be shown: never its secrets."""

    id: int
    name: str
    kind: str
    state: str
    reason: str
    app: str
    project: str
    used: Moment | None
    gauges: tuple[Gauge, ...]


@dataclass(frozen=True, slots=True)
class Hand:
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
@needs(OPERATIONS)
def operations(request: HttpRequest) -> HttpResponse:
    status = Status()
    now = status.now
    parts: dict[str, Read] = {
        "figures": lambda: figures_now(status),
        "days": lambda: {"days": days(status.plan, now=now, is_whole=True)},
        "over-time": lambda: over_time(request.GET.get("over", ""), now=now),
        "database": lambda: database(status),
    }
    shared = {"now": now, "kiosk": is_kiosk(request)}
    return show(request, "dashboards/operations/page.html", parts, shared=shared)


@require_safe
@needs(TWEETS)
def strip(request: HttpRequest) -> HttpResponse:
    """A line of figures above the tweets, and what a person should do first."""
    status = Status()
    return render(
        request,
        "dashboards/operations/_strip.html",
        {
            "cards": (*cards(status.tweet_queue), card_of(status.catch_up)),
            "count": count(status.tweet_queue, now=status.now),
            "notices": notices(now=status.now),
        },
    )


def figures_now(status: Status) -> dict[str, object]:
    now, queue = status.now, status.tweet_queue
    drawn: Bars = bars(by_minute(TWEET_UPDATE), now=now)
    youngest = queue.oldest_urgent_seconds if len(status.plan.tiers) > 1 else None
    above = notices(now=now)
    behind = sentence_of(
        status.catch_up,
        due=queue.due + queue.in_flight,
        youngest=youngest,
        said_above=[notice.said for notice in above],
    )
    hands = workers(status.workers, now=now)
    return {
        "cards": (*cards(queue), card_of(status.catch_up), oldest_snapshot(status.oldest_snapshot)),
        "count": count(queue, now=now),
        "behind": behind,
        "bars": drawn,
        "blocks": [block(one, now=now) for one in status.projects],
        "keys": [key(one, now=now) for one in status.credentials],
        "hands": hands,
        "silent": sum(hand.is_stale for hand in hands),
        "notices": above,
        "isolated": isolated_keys(),
        "queues": queues(status.namespaces, now=now),
    }


def over_time(over: str, *, now: datetime) -> dict[str, object]:
    over = over if over in SPANS else "hour"
    span = SPANS[over]
    found = by_time(over=span.over, step=span.step)
    return {
        "over": over,
        "span": span,
        "spans": SPANS,
        "over_time": queues_over_time(found, span, now=now),
        "is_kept": any(found.values()),
        "troubled": troubled_tasks(now=now),
    }


def database(status: Status) -> dict[str, object]:
    now, found = status.now, health()
    if found is None:
        return {"health": None}
    wal = wal_by_minute(over=HOUR)
    return {
        "health": found,
        "checks": checks(found, status.oldest_snapshot, [written for _, written in wal], now=now),
        "wal": wal_chart(wal, now=now),
        "tables": tables(found, now=now),
        "partitions": partitions(found),
    }


def key(credential: Credential, *, now: datetime) -> Key:
    return Key(
        id=credential.pk,
        name=credential.name,
        kind=f"{credential.get_kind_display()}, {credential.api}",
        state=credential.state,
        reason=credential.reason,
        app=credential.app.name,
        project=credential.project.name,
        used=ago(credential.used_at, now=now) if credential.used_at else None,
        gauges=tuple(gauge(window, now=now) for window in credential.told()),
    )


def gauge(window: WindowSeen, *, now: datetime) -> Gauge:
    return Gauge(
        endpoint=window.endpoint,
        limit=window.limit,
        limit_words=counted(window.limit),
        remaining=window.remaining,
        remaining_words=counted(window.remaining),
        resets=ahead(window.resets_at, now=now),
        is_over=window.resets_at <= now,
    )


def workers(rows: Iterable[Worker], *, now: datetime) -> list[Hand]:
    """Those that fell silent come first."""
    return sorted((hand(row, now=now) for row in rows), key=lambda one: not one.is_stale)


def hand(worker: Worker, *, now: datetime) -> Hand:
    return Hand(
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
