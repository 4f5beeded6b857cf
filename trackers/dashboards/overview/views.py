"""The page at `/`: is everything fresh, and what is moving?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs, start_elsewhere
from trackers.dashboards.charts.small import BarChart
from trackers.dashboards.days_table import days_table
from trackers.dashboards.freshness import headline
from trackers.dashboards.notices import notices, why_idle
from trackers.dashboards.operations.cards import catch_up_sentence
from trackers.dashboards.operations.money import project_blocks
from trackers.dashboards.overview.cards import cards, credential_gauges
from trackers.dashboards.overview.fastest import SHORT_BOARD, board_context
from trackers.dashboards.overview.first_steps import first_steps
from trackers.dashboards.overview.outstanding import outstanding_context
from trackers.dashboards.overview.since import since_context
from trackers.dashboards.overview.yesterday import yesterday_context
from trackers.dashboards.parts import PartReader, is_kiosk, render_parts
from trackers.dashboards.words import about, commas
from trackers.forecasts.hour import NextHour, next_hour
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.observed.models import NotedTask
from trackers.jobs.statistics import by_minute
from trackers.schedule.intervals import Plan
from trackers.status import Status


@require_safe
@needs(VIEW_TWEETS)
def start(request: HttpRequest) -> HttpResponseBase:
    """`/` leads to the page that the person has chosen as the first; a link with a question, as to
    a part or a wall screen, is one to Today."""
    chosen = "" if request.GET else start_elsewhere(request)
    return redirect(chosen) if chosen else overview(request)


@require_safe
@needs(VIEW_TWEETS)
def overview(request: HttpRequest) -> HttpResponse:
    status = Status()
    now = status.now
    parts: dict[str, PartReader] = {
        "now": lambda: _freshness(request, status),
        "ahead": lambda: _plan_context(status.plan, now=now),
        "outstanding": lambda: outstanding_context(request, now=now),
        "fastest": lambda: board_context(request, most=SHORT_BOARD),
        "yesterday": lambda: {} if is_kiosk(request) else yesterday_context(request, now=now),
        "since": lambda: {} if is_kiosk(request) else since_context(request, now=now),
    }
    shared = {"now": now, "kiosk": is_kiosk(request)}
    return render_parts(request, "dashboards/overview/page.html", parts, shared=shared)


def _freshness(request: HttpRequest, status: Status) -> dict[str, object]:
    now, queue = status.now, status.tweet_queue
    sees_money = request.user.has_perm("trackers.view_project")
    steps = first_steps(now=now, costs=_costs_of_tomorrow(status) if sees_money else None)
    # What a step says already is not said again.
    of_steps = {step.how for step in steps.first}
    advice = [item for item in notices(now=now) if item.sentence not in of_steps]
    said_above = {*of_steps, *(item.sentence for item in advice)}
    waiting = sum(item.waiting for item in status.projects if item.is_dry(now=now))
    behind = queue.due + queue.in_flight
    context: dict[str, object] = {
        "steps": steps.first,
        "next_steps": steps.next,
        "notices": advice,
        "headline": headline(
            scheduled=queue.scheduled,
            due=queue.due,
            overdue=queue.oldest_due_seconds,
            idle=why_idle(now=now),
            waiting=waiting,
        ),
        "outlook": catch_up_sentence(status.catch_up, due=behind, said_above=said_above),
        "cards": cards(
            queue,
            by_minute(TWEET_UPDATE),
            because=_why_failed(now=now),
        ),
    }
    if request.user.has_perm("trackers.view_credential"):
        sentences = [item.sentence for item in advice]
        context["gauges"], context["more_gauges"] = credential_gauges(
            status.credentials, now=now, shown_above=sentences
        )
    if sees_money:
        context["blocks"] = project_blocks(status)
    return context


def _costs_of_tomorrow(status: Status) -> Decimal | None:
    costs = [one.spends_tomorrow for one in status.days_of_projects if one.spends_tomorrow]
    return sum(costs, Decimal(0)) if costs else None


def _plan_context(plan: Plan, *, now: datetime) -> dict[str, object]:
    return {
        "schedule": _schedule(next_hour(now=now)),
        "days": days_table(plan, now=now),
    }


def _why_failed(*, now: datetime) -> str:
    """Why checks failed last; empty if none did in the last hour."""
    task = NotedTask.objects.filter(
        queue=TWEET_UPDATE, failed=True, ended_at__gt=now - timedelta(hours=1)
    ).first()
    return task.reason if task else ""


@dataclass(frozen=True, slots=True)
class MinuteRow:
    at: datetime
    checks: str
    of_new: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """The checks of the next hour."""

    chart: BarChart
    total: str
    most: str
    of_new: str  # how many of them are of tweets yet to come; empty: none
    why: str  # why nothing is expected, or what is left out
    lines: tuple[MinuteRow, ...]


def _schedule(hour: NextHour) -> Schedule:
    checks = [minute.known + minute.new for minute in hour.minutes]
    new = [minute.new for minute in hour.minutes]
    total, of_new = sum(checks), sum(new)
    total_words = about(total, digits=3) if round(of_new) else commas(round(total))
    return Schedule(
        chart=BarChart(checks, f"{total_words} checks in the next 60 minutes", new),
        total=total_words,
        most=commas(round(max(checks, default=0))),
        of_new=about(of_new, digits=3) if round(of_new) else "",
        why=hour.why,
        lines=tuple(
            MinuteRow(minute.at, commas(round(whole)), commas(round(minute.new)))
            for minute, whole in zip(hour.minutes, checks, strict=True)
        ),
    )
