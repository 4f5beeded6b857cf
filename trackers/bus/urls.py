"""The bus's own addresses, at the root of its host; no trailing slashes, no redirects."""

from __future__ import annotations

from django.urls import re_path
from ninja import NinjaAPI

from trackers.bus import calls, probes
from trackers.bus.bodies import BusJson
from trackers.bus.responses import bus_routes, handle_errors, nowhere


class BusApi(NinjaAPI):
    def get_content_type(self) -> str:
        """Exactly this: some receivers compare the header's text."""
        return "application/json"


api = BusApi(
    title="tweetwatch's event bus",
    parser=BusJson(),
    # Nothing else is there.
    docs_url=None,
    openapi_url=None,
    urls_namespace="bus",
)
handle_errors(api)
api.add_router("", calls.router)
api.add_router("", probes.router)

urlpatterns = [
    *bus_routes(api),
    re_path("", nowhere),
]
