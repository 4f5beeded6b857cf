"""The page at `/`: is everything fresh, and what is moving?"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.days import days
from trackers.dashboards.kiosk import is_kiosk
from trackers.dashboards.notices import notices
from trackers.dashboards.operations.catch_up import sentence_of
from trackers.dashboards.operations.money import block
from trackers.dashboards.overview.cards import cards
from trackers.dashboards.overview.checklist import checklist
from trackers.dashboards.overview.credentials import gauges
from trackers.dashboards.overview.fastest import FEW, MANY, board
from trackers.dashboards.overview.headline import headline
from trackers.dashboards.overview.schedule import schedule
from trackers.dashboards.parts import Read, show
from trackers.dashboards.queues import idle
from trackers.jobs.ahead import ahead
from trackers.jobs.figures import by_minute, lateness_at
from trackers.jobs.observed.tasks import NotedTask
from trackers.schedule.intervals import Plan
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.status import Status


@require_safe
@needs(TWEETS)
def overview(request: HttpRequest) -> HttpResponse:
    status = Status()
    now = status.now
    parts: dict[str, Read] = {
        "now": lambda: freshness(request, status),
        "ahead": lambda: planned(status.plan, now=now),
        "fastest": lambda: ranked(request, most=FEW),
    }
    shared = {"now": now, "kiosk": is_kiosk(request)}
    return show(request, "dashboards/overview/page.html", parts, shared=shared)


@require_safe
@needs(TWEETS)
def fastest(request: HttpRequest) -> HttpResponse:
    parts = {"fastest": lambda: ranked(request, most=MANY)}
    shared = {"now": timezone.now(), "kiosk": is_kiosk(request)}
    return show(request, "dashboards/overview/fastest.html", parts, shared=shared)


def freshness(request: HttpRequest, status: Status) -> dict[str, object]:
    now, queue = status.now, status.tweet_queue
    steps = checklist(now=now)
    # What a step says already is not said again.
    of_steps = {step.how for step in steps}
    advice = [one for one in notices(now=now) if one.said not in of_steps]
    said_above = {*of_steps, *(one.said for one in advice)}
    waiting = sum(one.waiting for one in status.projects if one.is_dry(now=now))
    behind = queue.due + queue.in_flight
    shown: dict[str, object] = {
        "steps": steps,
        "notices": advice,
        "headline": headline(queue, idle=idle(now=now), waiting=waiting),
        "outlook": sentence_of(status.catch_up, due=behind, said_above=said_above),
        "cards": cards(
            queue,
            by_minute(TWEET_UPDATE),
            lateness_at(TWEET_UPDATE, 0.5, 0.95),
            because=failed_because(now=now),
        ),
    }
    if request.user.has_perm("trackers.view_credential"):
        said = [one.said for one in advice]
        shown["gauges"], shown["more_gauges"] = gauges(status.credentials, now=now, said=said)
    if request.user.has_perm("trackers.view_project"):
        shown["blocks"] = [block(one, now=now) for one in status.projects]
    return shown


def planned(plan: Plan, *, now: datetime) -> dict[str, object]:
    return {
        "schedule": schedule(ahead(TWEET_UPDATE), now=now),
        "days": days(plan, now=now),
    }


def failed_because(*, now: datetime) -> str:
    """Why checks failed last; empty if none did in the last hour."""
    found = NotedTask.objects.filter(
        namespace=TWEET_UPDATE, failed=True, ended_at__gt=now - timedelta(hours=1)
    ).first()
    return found.reason if found else ""


def ranked(request: HttpRequest, *, most: int) -> dict[str, object]:
    return {
        "board": board(request.GET, most=most, kiosk=is_kiosk(request)),
        "is_whole": most == MANY,
    }
