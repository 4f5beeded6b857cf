"""Probes: is the bus there, can it reach its database, are more deliverers needed?"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from trackers.bus.answers import Refused, as_json, empty
from trackers.bus.auth import Caller, for_both
from tweetwatch.database import cursor

SOON = timedelta(seconds=1)
SLOW_SECONDS = 1.0

# Batches that could be sent now or soon, of subscribers that may be sent anything now. Counting
# stops at the number that makes the answer slow.
DUE = """
    SELECT count(*) FROM (
        SELECT FROM trackers_subscriberstate st
        JOIN trackers_subscriber s ON s.id = st.subscriber_id
        JOIN trackers_eventbatch b ON b.subscriber_id = s.id
        WHERE st.disabled_at IS NULL AND s.paused_at IS NULL AND s.removed_at IS NULL
          AND (st.not_before IS NULL OR st.not_before <= clock_timestamp() + %(soon)s)
          AND (b.state = 'ready'
               OR b.state = 'early' AND b.deadline <= clock_timestamp() + %(soon)s)
        LIMIT %(most)s
    ) due
"""


@for_both
def pulse(_request: HttpRequest, caller: Caller) -> HttpResponse:
    with cursor() as db:
        db.execute("SELECT 1")
    return empty(204)


@for_both
def scaling(_request: HttpRequest, caller: Caller) -> HttpResponse:
    """Slow while the deliverers fall behind, which is the signal that autoscalers expect."""
    with cursor() as db:
        row: Any = db.execute(DUE, {"soon": SOON, "most": settings.BUS_SCALE_ABOVE}).fetchone()
    if row[0] >= settings.BUS_SCALE_ABOVE:
        time.sleep(SLOW_SECONDS)
    return empty(204)


def health(request: HttpRequest) -> HttpResponse:
    refuse_credentials(request)
    return as_json({})


def ping(request: HttpRequest) -> HttpResponse:
    refuse_credentials(request)
    return as_json({"pong": timezone.now().isoformat()})


def refuse_credentials(request: HttpRequest) -> None:
    """As in Routemaster: a client that sends credentials expects them to be checked."""
    if "Authorization" in request.headers:
        raise Refused(401, "Ask for this without credentials.")
