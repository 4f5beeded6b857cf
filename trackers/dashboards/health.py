"""`/healthz`: this process answers. `/readyz`: so does the database, it has every migration, and it
can be written.

A middleware before nearly all others: a probe comes under any host name, over plain HTTP, without a
session, and leaves no line in a log.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from psycopg_pool import PoolTimeout

from trackers.standbys.reading import standby_now
from tweetwatch.database import LOST
from tweetwatch.schema import UnfitDatabaseError, lacking_migrations

_HEALTH_PATH, _READY_PATH = "/healthz", "/readyz"
_NO_DATABASE_REASON = "The database cannot be reached."
_READ_ONLY_REASON = (
    "The database can only be read: it is a standby, or default_transaction_read_only is on."
)
_MIGRATIONS_LACKING = "The database lacks {} migrations: run manage.py migrate."
_STATE = """
    SELECT current_setting('transaction_read_only')::bool,
           (SELECT max(seen_at) FROM trackers_worker)
"""
_READ_METHODS = ("GET", "HEAD")


class HealthMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (
            request.path_info not in (_HEALTH_PATH, _READY_PATH)
            or request.method not in _READ_METHODS
        ):
            return self.get_response(request)
        answer = HttpResponse("ok\n", content_type="text/plain")
        if request.path_info == _READY_PATH:
            answer = _readiness()
        answer["Cache-Control"] = "no-store"
        # Django would log every 503.
        answer.__dict__["_has_been_logged"] = True
        return answer


def _readiness() -> HttpResponse:
    """Report when a worker was last seen, but do not act on it: workers are other processes."""
    try:
        lacking = lacking_migrations(connection)
        is_read_only, seen = _ask_state()
        standby = standby_now()
    except UnfitDatabaseError as error:
        return _unready(str(error))
    except (DatabaseError, PoolTimeout, *LOST):
        return _unready(_NO_DATABASE_REASON)
    if is_read_only:
        # The next probe may reach one that can be written.
        connection.leave()  # type: ignore[attr-defined]
        return _unready(_READ_ONLY_REASON)
    if lacking:
        return _unready(_MIGRATIONS_LACKING.format(lacking))
    age = max(timezone.now() - seen, timedelta(0)) if seen else None
    age_seconds = round(age.total_seconds(), 1) if age is not None else None
    answer: dict[str, object] = {"ready": True, "worker_seen_seconds": age_seconds}
    if standby:
        # Without one the primary answers all.
        answer["standby"] = standby.why or "read"
    return JsonResponse(answer)


def _ask_state() -> tuple[bool, datetime | None]:
    """Whether nothing can be written here, and when a worker was last seen."""
    with connection.cursor() as db:
        db.execute(_STATE)
        [row] = db.fetchall()
    return row


def _unready(reason: str) -> HttpResponse:
    return JsonResponse({"ready": False, "reason": reason}, status=503)


@login_not_required
@require_safe
@never_cache
def ping(request: HttpRequest) -> HttpResponse:
    """204, without a look at the database or at who asks."""
    return HttpResponse(status=204)
