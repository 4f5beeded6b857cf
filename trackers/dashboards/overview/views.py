"""The page at `/`: is everything fresh, and what is moving?"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs

# What an address of the tweets page may ask for. That page was at `/` once.
OF_THE_TWEETS = {"q", "state", "source", "before", "after"}


@require_safe
@needs(TWEETS)
def overview(request: HttpRequest) -> HttpResponse:
    if OF_THE_TWEETS & request.GET.keys():
        return moved(request, "tweets")
    return render(request, "dashboards/overview/page.html", {"now": timezone.now()})


@require_safe
@needs(TWEETS)
def old_rows(request: HttpRequest) -> HttpResponse:
    return moved(request, "tweet-rows")


def moved(request: HttpRequest, name: str) -> HttpResponse:
    query = request.GET.urlencode()
    return HttpResponsePermanentRedirect(reverse(name) + (f"?{query}" if query else ""))
