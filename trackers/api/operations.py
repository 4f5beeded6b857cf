"""How the watching goes, in the API: queues, workers, credentials, budgets. Never a secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status

from trackers.api.wire.auth import Bearer, acted, require_permission
from trackers.api.wire.fields import NO_CONTENT, TimeOut
from trackers.credentials.models import Credential
from trackers.jobs.acts import QUEUE_ACTS
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import Worker
from trackers.money.summary import MoneySummary
from trackers.status import Status as Snapshot
from trackers.tokens.models import ADMIN_SCOPE
from tweetwatch.clock_times import iso

router = Router(tags=["operations"])
_VIEW_QUEUES = "trackers.view_queue"
# Far more than there are: each is made by a person, or is a process.
_MAX_ROWS = 1_000


class QueueOut(Schema):
    """Counts end at 10,000 while no worker runs. Null: unknown."""

    name: str
    due: int
    in_flight: int
    scheduled: int
    isolated: int
    oldest_due_seconds: float
    checked_last_minute: int
    lateness_p50_seconds: float | None
    lateness_p99_seconds: float | None
    paused: bool
    held_until: TimeOut | None
    held_reason: str


class QueuesOut(Schema):
    queues: list[QueueOut]


class WorkerOut(Schema):
    host: str
    pid: int
    cluster: str
    kind: str
    alive: bool
    doing: str
    doing_since: TimeOut | None
    started_at: TimeOut
    seen_at: TimeOut


class WorkersOut(Schema):
    workers: list[WorkerOut]


class WindowOut(Schema):
    endpoint: str
    limit: int
    remaining: int
    resets_at: TimeOut


class CredentialOut(Schema):
    """`windows`: X's latest report on the requests left."""

    name: str
    kind: str
    api: str
    app: str
    project: str
    state: str
    reason: str
    used_at: TimeOut | None
    expires_at: TimeOut | None
    windows: list[WindowOut]


class CredentialsOut(Schema):
    credentials: list[CredentialOut]


class BudgetOut(Schema):
    """A project's, for X's day. Money is in US dollars, as exact text. Reserved money counts as
    spent. Null: no limit, or unknown."""

    project: str
    day: str
    tweet_days_today: int
    tweet_days_month: int
    accounts_today: int
    accounts_month: int
    owned_today: int
    owned_month: int
    counts_today: int
    counts_month: int
    archive_counts_today: int
    archive_counts_month: int
    money_today: str
    money_month: str
    price_of_a_post: str
    price_of_an_owned_post: str
    price_of_a_user: str
    price_of_a_count: str
    price_of_an_archive_count: str
    tweet_days_a_day: int | None
    tweet_days_a_month: int | None
    money_a_day: str | None
    money_a_month: str | None
    tweet_days_left_today: int | None
    tweets_waiting: int
    runs_dry_at: TimeOut | None
    depleted_until: TimeOut | None
    depleted_reason: str
    counted_by_x: int | None
    counted_by_us: int | None
    compared_at: TimeOut | None


class BudgetsOut(Schema):
    budgets: list[BudgetOut]


@router.get("/queues", response=QueuesOut)
def list_queues(request: HttpRequest) -> dict[str, Any]:
    require_permission(request, _VIEW_QUEUES)
    status = Snapshot()
    return {"queues": [_queue_json(queue, status) for queue in status.queues[:_MAX_ROWS]]}


@router.post("/queues/{name}/pause", response=NO_CONTENT, auth=Bearer(changes=ADMIN_SCOPE))
def pause_queue(request: HttpRequest, name: str) -> Status:
    """Its keys wait; nothing is claimed. Idempotent, as is `resume`."""
    return acted(request, QUEUE_ACTS["pause"], _find_queues, name)


@router.post("/queues/{name}/resume", response=NO_CONTENT, auth=Bearer(changes=ADMIN_SCOPE))
def resume_queue(request: HttpRequest, name: str) -> Status:
    return acted(request, QUEUE_ACTS["resume"], _find_queues, name)


@router.get("/workers", response=WorkersOut)
def list_workers(request: HttpRequest) -> dict[str, Any]:
    """The processes of the clusters, as they last reported; silent ones are not `alive`."""
    require_permission(request, _VIEW_QUEUES)
    status = Snapshot()
    return {
        "workers": [_worker_json(worker, now=status.now) for worker in status.workers[:_MAX_ROWS]]
    }


@router.get("/credentials", response=CredentialsOut)
def list_credentials(request: HttpRequest) -> dict[str, Any]:
    """Their state, and what is left in X's windows; never any part of their keys."""
    require_permission(request, "trackers.view_credential")
    return {
        "credentials": [
            _credential_json(credential) for credential in Snapshot().credentials[:_MAX_ROWS]
        ]
    }


@router.get("/budgets", response=BudgetsOut)
def list_budgets(request: HttpRequest) -> dict[str, Any]:
    require_permission(request, "trackers.view_project")
    return {"budgets": [_budget_json(summary) for summary in Snapshot().projects[:_MAX_ROWS]]}


def _find_queues(name: str) -> list[Queue]:
    queues = list(Queue.objects.filter(name=name))
    if not queues:
        raise LookupError("There is no queue of this name.")
    return queues


def _queue_json(queue: Queue, status: Snapshot) -> dict[str, Any]:
    held, summary = queue.held(now=status.now), status.queue_summaries.get(queue.name)
    counts = ("due", "in_flight", "scheduled", "isolated", "checked_last_minute")
    return {
        "name": queue.name,
        **{name: getattr(summary, name, 0) for name in counts},
        "oldest_due_seconds": getattr(summary, "oldest_due_seconds", 0),
        "lateness_p50_seconds": getattr(summary, "lateness_p50_seconds", None),
        "lateness_p99_seconds": getattr(summary, "lateness_p99_seconds", None),
        "paused": queue.paused,
        "held_until": iso(queue.held_until) if held else None,
        "held_reason": queue.held_reason if held else "",
    }


def _worker_json(worker: Worker, *, now: datetime) -> dict[str, Any]:
    return {
        "host": worker.host,
        "pid": worker.pid,
        "cluster": str(worker.cluster),
        "kind": worker.kind,
        "alive": worker.seen_at > now - Worker.SILENT_AFTER,
        "doing": worker.doing,
        "doing_since": iso(worker.doing_since),
        "started_at": iso(worker.started_at),
        "seen_at": iso(worker.seen_at),
    }


def _credential_json(credential: Credential) -> dict[str, Any]:
    return {
        **{name: getattr(credential, name) for name in ("name", "kind", "api", "state", "reason")},
        "app": credential.app.name,
        "project": credential.project.name,
        "used_at": iso(credential.used_at),
        "expires_at": iso(credential.expires_at),
        "windows": [
            {
                "endpoint": window.endpoint,
                "limit": window.limit,
                "remaining": window.remaining,
                "resets_at": iso(window.resets_at),
            }
            for window in credential.reported_windows()
        ],
    }


def _budget_json(summary: MoneySummary) -> dict[str, Any]:
    project, spent = summary.project, summary.spent
    return {
        "project": project.name,
        "day": summary.day.isoformat(),
        "tweet_days_today": spent.posts_today,
        "tweet_days_month": spent.posts_month,
        "accounts_today": spent.users_today,
        "accounts_month": spent.users_month,
        "owned_today": spent.owned_today,
        "owned_month": spent.owned_month,
        "counts_today": spent.counts_today,
        "counts_month": spent.counts_month,
        "archive_counts_today": spent.archive_counts_today,
        "archive_counts_month": spent.archive_counts_month,
        "money_today": _money_text(spent.money_today),
        "money_month": _money_text(spent.money_month),
        "price_of_a_post": _money_text(project.price_of_a_post),
        "price_of_an_owned_post": _money_text(project.price_of_an_owned_post),
        "price_of_a_user": _money_text(project.price_of_a_user),
        "price_of_a_count": _money_text(project.price_of_a_count),
        "price_of_an_archive_count": _money_text(project.price_of_an_archive_count),
        "tweet_days_a_day": project.posts_a_day,
        "tweet_days_a_month": project.posts_a_month,
        "money_a_day": _money_text(project.money_a_day),
        "money_a_month": _money_text(project.money_a_month),
        "tweet_days_left_today": summary.left,
        "tweets_waiting": summary.waiting,
        "runs_dry_at": iso(summary.runs_dry_at),
        "depleted_until": iso(project.depleted_until),
        "depleted_reason": project.depleted_reason,
        "counted_by_x": project.usage_of_month,
        "counted_by_us": project.ours_of_month,
        "compared_at": iso(project.usage_read_at),
    }


def _money_text(amount: Any) -> str | None:
    return None if amount is None else f"{amount:.6f}"
