"""The API, version 1, for programs with a token (docs/api.md)."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from ninja import NinjaAPI

from trackers.api import events, homes, subscribers, timelines
from trackers.api.wire.auth import Bearer
from trackers.api.wire.errors import NOWHERE, handle
from trackers.api.wire.methods import answers_in_json
from tweetwatch.problems import problem

api = NinjaAPI(
    title="tweetwatch",
    version="1",
    auth=Bearer(),
    # Ninja's documentation page would load scripts from elsewhere, which our policy forbids.
    docs_url=None,
    # For the description, openapi.json.
    docs_decorator=require_safe,
    urls_namespace="api",
)
handle(api)
api.add_router("", homes.router)
api.add_router("/events", events.router)
api.add_router("/timelines", timelines.router)
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
