"""The page of tweets, and its rows alone, for polling."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.tweets.patience import Busy, GivenUp, turn
from trackers.dashboards.tweets.search import Page, Wanted, page, wanted
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import current
from trackers.updater.states import STATES
from tweetwatch.bounded import TookTooLong

TOO_LONG = (
    "This search took longer than a second and was ended. Write more words, or longer ones, or "
    "choose a state."
)
BUSY = "Many are searching at this moment. Try again in a second."
# nginx's status code; only the log will see it.
CLOSED_BY_CLIENT = 499


@require_safe
@needs(TWEETS)
def tweets(request: HttpRequest) -> HttpResponse:
    asked = wanted(request.GET)
    try:
        found = found_for(request, asked)
    except GivenUp:
        return HttpResponse(status=CLOSED_BY_CLIENT)
    except TookTooLong:
        found = Page([], note=TOO_LONG)
    except Busy:
        found = Page([], note=BUSY)
    return render(request, "dashboards/tweets/list.html", shown(asked, found))


@require_safe
@needs(TWEETS)
def tweet_rows(request: HttpRequest) -> HttpResponse:
    asked = wanted(request.GET)
    try:
        found = found_for(request, asked)
    except GivenUp:
        return HttpResponse(status=CLOSED_BY_CLIENT)
    except (TookTooLong, Busy):
        # The rows stay as they are until the next poll.
        return HttpResponse(status=204)
    return render(request, "dashboards/_tweet_rows.html", shown(asked, found))


def found_for(request: HttpRequest, asked: Wanted) -> Page:
    if not asked.narrowed:
        return page(asked)
    with turn(request):
        return page(asked)


def shown(wanted: Wanted, found: Page) -> dict[str, object]:
    now, plan = current()
    return {
        "now": now,
        "wanted": wanted,
        "page": found,
        "rows": rows(found.tweets, plan, now=now),
        "labels": LABELS.values(),
        "states": STATES.items(),
        "source": Source.objects.filter(pk=wanted.source).first() if wanted.source else None,
    }
