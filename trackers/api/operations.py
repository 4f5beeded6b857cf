"""How the watching goes, in the API: queues, workers, credentials, budgets. Never a secret."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status

from trackers.api.wire.auth import Bearer, act_on, may
from trackers.api.wire.outgoing import TimeOut
from trackers.credentials.models import Credential
from trackers.jobs.acts import ACTS
from trackers.jobs.models import Namespace, Worker
from trackers.money.summary import MoneySummary
from trackers.status import Status as Snapshot
from trackers.tokens.models import ADMIN
from tweetwatch.clock_times import iso

router = Router(tags=["operations"])
DONE: dict[Any, Any] = {204: None}
QUEUE = "trackers.view_namespace"
# Far more than there are: each is made by a person, or is a process.
MOST = 1_000


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
    held_because: str


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
    money_today: str
    money_month: str
    price_of_a_post: str
    price_of_a_user: str
    tweet_days_a_day: int | None
    tweet_days_a_month: int | None
    money_a_day: str | None
    money_a_month: str | None
    tweet_days_left_today: int | None
    tweets_waiting: int
    runs_dry_at: TimeOut | None
    stopped_until: TimeOut | None
    stopped_because: str
    counted_by_x: int | None
    counted_by_us: int | None
    compared_at: TimeOut | None


class BudgetsOut(Schema):
    budgets: list[BudgetOut]


@router.get("/queues", response=QueuesOut)
def list_queues(request: HttpRequest) -> dict[str, Any]:
    may(request, QUEUE)
    status = Snapshot()
    return {"queues": [queue(one, status) for one in status.namespaces[:MOST]]}


@router.post("/queues/{name}/pause", response=DONE, auth=Bearer(changes=ADMIN))
def pause_queue(request: HttpRequest, name: str) -> Status:
    """Its keys wait; nothing is claimed. Idempotent, as is `resume`."""
    act_on(request, ACTS["pause"], find, name)
    return Status(204, None)


@router.post("/queues/{name}/resume", response=DONE, auth=Bearer(changes=ADMIN))
def resume_queue(request: HttpRequest, name: str) -> Status:
    act_on(request, ACTS["resume"], find, name)
    return Status(204, None)


@router.get("/workers", response=WorkersOut)
def list_workers(request: HttpRequest) -> dict[str, Any]:
    """The processes of the clusters, as they last reported; silent ones are not `alive`."""
    may(request, QUEUE)
    status = Snapshot()
    return {"workers": [worker(one, now=status.now) for one in status.workers[:MOST]]}


@router.get("/credentials", response=CredentialsOut)
def list_credentials(request: HttpRequest) -> dict[str, Any]:
    """Their state, and what is left in X's windows; never any part of their keys."""
    may(request, "trackers.view_credential")
    return {"credentials": [credential(one) for one in Snapshot().credentials[:MOST]]}


@router.get("/budgets", response=BudgetsOut)
def list_budgets(request: HttpRequest) -> dict[str, Any]:
    may(request, "trackers.view_project")
    return {"budgets": [budget(one) for one in Snapshot().projects[:MOST]]}


def find(name: str) -> list[Namespace]:
    queues = list(Namespace.objects.filter(name=name))
    if not queues:
        raise LookupError("There is no queue of this name.")
    return queues


def queue(one: Namespace, status: Snapshot) -> dict[str, Any]:
    held, found = one.held(now=status.now), status.queues.get(one.name)
    counts = ("due", "in_flight", "scheduled", "isolated", "checked_last_minute")
    return {
        "name": one.name,
        **{name: getattr(found, name, 0) for name in counts},
        "oldest_due_seconds": getattr(found, "oldest_due_seconds", 0),
        "lateness_p50_seconds": getattr(found, "lateness_p50_seconds", None),
        "lateness_p99_seconds": getattr(found, "lateness_p99_seconds", None),
        "paused": one.paused,
        "held_until": iso(one.held_until) if held else None,
        "held_because": one.held_because if held else "",
    }


def worker(one: Worker, *, now: datetime) -> dict[str, Any]:
    return {
        "host": one.host,
        "pid": one.pid,
        "cluster": str(one.cluster),
        "kind": one.kind,
        "alive": one.seen_at > now - Worker.SILENT_AFTER,
        "doing": one.doing,
        "doing_since": iso(one.doing_since),
        "started_at": iso(one.started_at),
        "seen_at": iso(one.seen_at),
    }


def credential(one: Credential) -> dict[str, Any]:
    return {
        **{name: getattr(one, name) for name in ("name", "kind", "api", "state", "reason")},
        "app": one.app.name,
        "project": one.project.name,
        "used_at": iso(one.used_at),
        "expires_at": iso(one.expires_at),
        "windows": [
            {
                "endpoint": window.endpoint,
                "limit": window.limit,
                "remaining": window.remaining,
                "resets_at": iso(window.resets_at),
            }
            for window in one.told()
        ],
    }


def budget(one: MoneySummary) -> dict[str, Any]:
    project, spent = one.project, one.spent
    return {
        "project": project.name,
        "day": one.day.isoformat(),
        "tweet_days_today": spent.posts_today,
        "tweet_days_month": spent.posts_month,
        "accounts_today": spent.users_today,
        "accounts_month": spent.users_month,
        "money_today": money(spent.money_today),
        "money_month": money(spent.money_month),
        "price_of_a_post": money(project.price_of_a_post),
        "price_of_a_user": money(project.price_of_a_user),
        "tweet_days_a_day": project.posts_a_day,
        "tweet_days_a_month": project.posts_a_month,
        "money_a_day": money(project.money_a_day),
        "money_a_month": money(project.money_a_month),
        "tweet_days_left_today": one.left,
        "tweets_waiting": one.waiting,
        "runs_dry_at": iso(one.runs_dry_at),
        "stopped_until": iso(project.stopped_until),
        "stopped_because": project.stopped_because,
        "counted_by_x": project.usage_of_month,
        "counted_by_us": project.ours_of_month,
        "compared_at": iso(project.usage_read_at),
    }


def money(amount: Any) -> str | None:
    return None if amount is None else f"{amount:.6f}"
