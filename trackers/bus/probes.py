"""Probes: is the bus there, can it reach its database, are more deliverers needed?"""

from __future__ import annotations

import time
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router

from trackers.bus.auth import EITHER
from trackers.bus.bodies import NO_CONTENT, PongOut
from tweetwatch.database import cursor
from tweetwatch.http.refusals import Refused

router = Router()

_DUE_WITHIN = timedelta(seconds=1)
_SLOW_SECONDS = 1.0

# Transactions whose events are not yet given to subscribers, and batches, except tests, that could
# be sent now or soon, of subscribers that may be sent anything now. Counting stops at the number
# that makes the answer slow.
_COUNT_DUE = """
    SELECT count(*) FROM (
        SELECT 1 FROM trackers_staged
        UNION ALL
        SELECT 1 FROM trackers_subscriberstate st
        JOIN trackers_subscriber s ON s.id = st.subscriber_id
        JOIN trackers_eventbatch b ON b.subscriber_id = s.id
        WHERE st.disabled_at IS NULL AND s.paused_at IS NULL AND s.removed_at IS NULL
          AND b.kind <> 'test'
          AND (st.not_before IS NULL OR st.not_before <= clock_timestamp() + %(soon)s)
          AND (b.state = 'ready'
               OR b.state = 'early' AND b.deadline <= clock_timestamp() + %(soon)s)
        LIMIT %(most)s
    ) due
"""


@router.get("/pulse", auth=EITHER, response=NO_CONTENT)
def pulse(request: HttpRequest) -> None:
    with cursor() as db:
        db.execute("SELECT 1")


@router.get("/pulse/scaling", auth=EITHER, response=NO_CONTENT)
def scaling(request: HttpRequest) -> None:
    """Slow while the deliverers fall behind, which is the signal that autoscalers expect."""
    if count_due(most=settings.BUS_SCALE_ABOVE) >= settings.BUS_SCALE_ABOVE:
        time.sleep(_SLOW_SECONDS)


def count_due(*, most: int) -> int:
    """How much waits for a deliverer, up to `most`."""
    with cursor() as db:
        row = db.execute(_COUNT_DUE, {"soon": _DUE_WITHIN, "most": most}).fetchone()
    return int(row[0]) if row else 0


@router.get("/health", response=dict[str, str])
def health(request: HttpRequest) -> dict[str, str]:
    _refuse_credentials(request)
    return {}


@router.get("/health/ping", response=PongOut)
@router.get("/health/ping.json", response=PongOut, include_in_schema=False)
def ping(request: HttpRequest) -> dict[str, str]:
    _refuse_credentials(request)
    return {"pong": timezone.now().isoformat()}


def _refuse_credentials(request: HttpRequest) -> None:
    """As in Routemaster: a client that sends credentials expects them to be checked."""
    if "Authorization" in request.headers:
        raise Refused(401, "Ask for this without credentials.")
