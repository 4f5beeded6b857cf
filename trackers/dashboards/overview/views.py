"""The page at `/`: is everything fresh, and what is moving?"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.days_table import days_table
from trackers.dashboards.kiosk import is_kiosk
from trackers.dashboards.notices import notices
from trackers.dashboards.operations.catch_up import catch_up_sentence
from trackers.dashboards.operations.money import project_block
from trackers.dashboards.overview.cards import cards
from trackers.dashboards.overview.checklist import checklist
from trackers.dashboards.overview.credentials import credential_gauges
from trackers.dashboards.overview.fastest import LONG_BOARD, SHORT_BOARD, board
from trackers.dashboards.overview.headline import headline
from trackers.dashboards.overview.schedule import schedule
from trackers.dashboards.parts import PartReader, render_parts
from trackers.dashboards.queues import why_idle
from trackers.jobs.ahead import read_ahead
from trackers.jobs.names import TWEET_UPDATE
from trackers.jobs.observed.tasks import NotedTask
from trackers.jobs.statistics import by_minute, lateness_at
from trackers.schedule.intervals import Plan
from trackers.status import Status


@require_safe
@needs(VIEW_TWEETS)
def overview(request: HttpRequest) -> HttpResponse:
    status = Status()
    now = status.now
    parts: dict[str, PartReader] = {
        "now": lambda: _freshness(request, status),
        "ahead": lambda: _plan_context(status.plan, now=now),
        "fastest": lambda: _board_context(request, most=SHORT_BOARD),
    }
    shared = {"now": now, "kiosk": is_kiosk(request)}
    return render_parts(request, "dashboards/overview/page.html", parts, shared=shared)


@require_safe
@needs(VIEW_TWEETS)
def fastest(request: HttpRequest) -> HttpResponse:
    parts = {"fastest": lambda: _board_context(request, most=LONG_BOARD)}
    shared = {"now": timezone.now(), "kiosk": is_kiosk(request)}
    return render_parts(request, "dashboards/overview/fastest.html", parts, shared=shared)


def _freshness(request: HttpRequest, status: Status) -> dict[str, object]:
    now, queue = status.now, status.tweet_queue
    steps = checklist(now=now)
    # What a step says already is not said again.
    of_steps = {step.how for step in steps}
    advice = [item for item in notices(now=now) if item.sentence not in of_steps]
    said_above = {*of_steps, *(item.sentence for item in advice)}
    waiting = sum(item.waiting for item in status.projects if item.is_dry(now=now))
    behind = queue.due + queue.in_flight
    context: dict[str, object] = {
        "steps": steps,
        "notices": advice,
        "headline": headline(queue, idle=why_idle(now=now), waiting=waiting),
        "outlook": catch_up_sentence(status.catch_up, due=behind, said_above=said_above),
        "cards": cards(
            queue,
            by_minute(TWEET_UPDATE),
            lateness_at(TWEET_UPDATE, 0.5, 0.95),
            because=_why_failed(now=now),
        ),
    }
    if request.user.has_perm("trackers.view_credential"):
        sentences = [item.sentence for item in advice]
        context["gauges"], context["more_gauges"] = credential_gauges(
            status.credentials, now=now, shown_above=sentences
        )
    if request.user.has_perm("trackers.view_project"):
        context["blocks"] = [project_block(item, now=now) for item in status.projects]
    return context


def _plan_context(plan: Plan, *, now: datetime) -> dict[str, object]:
    return {
        "schedule": schedule(read_ahead(TWEET_UPDATE), now=now),
        "days": days_table(plan, now=now),
    }


def _why_failed(*, now: datetime) -> str:
    """Why checks failed last; empty if none did in the last hour."""
    task = NotedTask.objects.filter(
        queue=TWEET_UPDATE, failed=True, ended_at__gt=now - timedelta(hours=1)
    ).first()
    return task.reason if task else ""


def _board_context(request: HttpRequest, *, most: int) -> dict[str, object]:
    return {
        "board": board(request.GET, most=most, kiosk=is_kiosk(request)),
        "is_whole": most == LONG_BOARD,
    }
