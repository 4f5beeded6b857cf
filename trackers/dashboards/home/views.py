"""Home: what a person, or a team, follows, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards import scroll_answers
from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.homes import chosen, home_of, page_of
from trackers.dashboards.scroll_answers import Look
from trackers.dashboards.scrolled import OfHome
from trackers.timelines.models import Follow
from trackers.timelines.watchers import Home, homes_of


@require_safe
@needs(TWEETS)
def home(request: HttpRequest, team: int | None = None) -> HttpResponse:
    homes = homes_of(request.user)
    whose = chosen(homes, team)
    shown = scroll_answers.whole(OfHome(whose.watcher_id), look(whose), request.GET)
    follows = bool(shown["rows"]) or follows_any(whose)
    return render(
        request,
        "dashboards/home/page.html",
        {
            **shown,
            "homes": [(page_of(one.team_id), one) for one in homes],
            "home": whose,
            "follows": follows,
        },
    )


@require_safe
@needs(TWEETS)
def home_rows(request: HttpRequest, team: int | None = None) -> HttpResponse:
    whose = home_of(request.user, team)
    return scroll_answers.older_rows(request, OfHome(whose.watcher_id), look(whose))


@require_safe
@needs(TWEETS)
def home_now(request: HttpRequest, team: int | None = None) -> HttpResponse:
    whose = home_of(request.user, team)
    return scroll_answers.now(request, OfHome(whose.watcher_id), look(whose))


@require_safe
@needs(TWEETS)
def home_new(request: HttpRequest, team: int | None = None) -> HttpResponse:
    whose = home_of(request.user, team)
    return scroll_answers.new(request, OfHome(whose.watcher_id), look(whose))


def look(whose: Home) -> Look:
    return Look(page_of(whose.team_id))


def follows_any(whose: Home) -> bool:
    return Follow.objects.filter(watcher_id=whose.watcher_id or 0).exists()
