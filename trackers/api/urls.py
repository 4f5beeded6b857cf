"""The API, version 1, for programs with a token (docs/api.md)."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from trackers.api import (
    alerts,
    authors,
    channels,
    events,
    exports,
    homes,
    intervals,
    leaderboards,
    notes,
    operations,
    sets,
    shares,
    sources,
    subscribers,
    timelines,
    views,
)
from trackers.api.description import Api, DescriptionPage

# Each puts its calls into the routers.
from trackers.api.tweets import acts, compare, detail, history, left, listing  # noqa: F401
from trackers.api.tweets.routers import many, single
from trackers.api.wire.auth import Bearer
from trackers.api.wire.errors import NOWHERE, handle_errors
from trackers.api.wire.parameters import refuse_unknown_parameters
from trackers.api.wire.responses import answers_in_json
from trackers.standbys.requests import call_on_standby
from tweetwatch.http.json_bodies import StrictJson
from tweetwatch.http.problems import problem

api = Api(
    title="tweetwatch",
    version="1",
    description=(
        "Watches tweets: keeps their metrics up to date by age, and keeps their history. "
        "docs/api.md has examples."
    ),
    auth=Bearer(),
    parser=StrictJson(),
    docs=DescriptionPage(settings={"persistAuthorization": False, "validatorUrl": None}),
    # For the description, openapi.json, and its page.
    docs_decorator=require_safe,
    urls_namespace="api",
)
handle_errors(api)
api.add_decorator(refuse_unknown_parameters)
# Their GETs only read. Tokens, homes, timelines, events and operations are the primary's.
for router in (many, single, authors.router, sources.router, sets.router, leaderboards.router):
    router.add_decorator(call_on_standby)
api.add_router("/tweets", many)
api.add_router("/tweets", single)
api.add_router("/authors", authors.router)
api.add_router("/sources", sources.router)
api.add_router("/sets", sets.router)
api.add_router("/leaderboards", leaderboards.router)
api.add_router("/notes", notes.router)
api.add_router("/shares", shares.router)
api.add_router("/views", views.router)
api.add_router("/exports", exports.router)
api.add_router("/intervals", intervals.router)
api.add_router("", operations.router)
api.add_router("", homes.router)
api.add_router("/events", events.router)
api.add_router("/timelines", timelines.router)
api.add_router("/alerts", alerts.router)
api.add_router("/channels", channels.router)
api.add_router("/subscribers", subscribers.router)


# No cookies are used here, so no other site's page can abuse one.
@login_not_required
@csrf_exempt
def nowhere(request: HttpRequest) -> HttpResponse:
    return problem(404, NOWHERE)


urlpatterns = [
    re_path("^$", nowhere),
    path("", answers_in_json(api.urls)),
    re_path("", nowhere),
]
