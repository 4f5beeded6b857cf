"""The page at `/`: is everything fresh, and what is moving?"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.days import days
from trackers.dashboards.idle import idle
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
from trackers.jobs.ahead import ahead
from trackers.jobs.figures import by_minute, lateness_at
from trackers.jobs.observed.tasks import NotedTask
from trackers.schedule.intervals import current
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.status import Status

# What an address of the tweets page may ask for. That page was at `/` once.
OF_THE_TWEETS = {"q", "state", "source", "before", "after"}


@require_safe
@needs(TWEETS)
def overview(request: HttpRequest) -> HttpResponse:
    if OF_THE_TWEETS & request.GET.keys():
        return moved(request, "tweets")
    given = {**ranked(request, most=FEW), **planned(), **freshness(request)}
    return render(request, "dashboards/overview/page.html", given)


@require_safe
@needs(TWEETS)
def overview_now(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/overview/_now_and_means.html", freshness(request))


@require_safe
@needs(TWEETS)
def overview_ahead(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/overview/_ahead_and_days.html", planned())


@require_safe
@needs(TWEETS)
def old_rows(request: HttpRequest) -> HttpResponse:
    return moved(request, "tweet-rows")


def moved(request: HttpRequest, name: str) -> HttpResponse:
    query = request.GET.urlencode()
    return HttpResponsePermanentRedirect(reverse(name) + (f"?{query}" if query else ""))


def freshness(request: HttpRequest) -> dict[str, object]:
    status = Status()
    now, queue = status.now, status.tweet_queue
    steps = checklist(now=now)
    # What a step says already is not said again.
    of_steps = {step.how for step in steps}
    advice = [one for one in notices(now=now) if one.said not in of_steps]
    said_above = {*of_steps, *(one.said for one in advice)}
    waiting = sum(one.waiting for one in status.projects if one.is_dry(now=now))
    behind = queue.due + queue.in_flight
    shown: dict[str, object] = {
        "now": now,
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


def planned() -> dict[str, object]:
    now, plan = current()
    return {
        "now": now,
        "schedule": schedule(ahead(TWEET_UPDATE), now=now),
        "days": days(plan, now=now),
    }


def failed_because(*, now: datetime) -> str:
    """Why checks failed last; empty if none did in the last hour."""
    found = NotedTask.objects.filter(
        namespace=TWEET_UPDATE, failed=True, ended_at__gt=now - timedelta(hours=1)
    ).first()
    return found.reason if found else ""


@require_safe
@needs(TWEETS)
def fastest(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/overview/fastest.html", ranked(request, most=MANY))


@require_safe
@needs(TWEETS)
def fastest_now(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/overview/_fastest.html", ranked(request, most=MANY))


@require_safe
@needs(TWEETS)
def overview_fastest(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboards/overview/_fastest.html", ranked(request, most=FEW))


def ranked(request: HttpRequest, *, most: int) -> dict[str, object]:
    kiosk = is_kiosk(request)
    return {
        "now": timezone.now(),
        "board": board(request.GET, most=most, kiosk=kiosk),
        "is_whole": most == MANY,
        "kiosk": kiosk,
    }
