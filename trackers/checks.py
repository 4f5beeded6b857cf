"""Checks at start: the database keeps every text, and a task ends in time.

A task ends before its lease does, and has the time for two requests.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.checks import Error, register
from django.db import DatabaseError, connection

from trackers.credentials.models import Credential
from trackers.jobs.models import Queue
from tweetwatch.checks import INSTALLATION

_TEXTS_OF_DATABASE = """
    SELECT current_database(), current_setting('server_encoding'), lower('TITANIC') = 'titanic'
"""
_MAKE_ANOTHER = (
    "Make another one, and name it in DATABASE_URL: CREATE DATABASE tweets ENCODING 'UTF8' "
    "LOCALE 'C.UTF-8' TEMPLATE template0;"
)


@register(INSTALLATION)
def database_keeps_every_text(**_: Any) -> list[Error]:
    """Its encoding is UTF-8, and a search finds words whatever their case."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_TEXTS_OF_DATABASE)
            name, encoding, lowers = cursor.fetchone()
    except DatabaseError:
        return []  # It is away.
    if encoding != "UTF8":
        text = (
            f"The database {name} has the encoding {encoding}, in which most posts cannot be kept."
        )
        return [Error(text, hint=_MAKE_ANOTHER, id="trackers.E003")]
    if not lowers:
        text = (
            f"The locale of the database {name} has lower-case letters of its own, as Turkish has: "
            "a search for titanic would not find TITANIC."
        )
        return [Error(text, hint=_MAKE_ANOTHER, id="trackers.E004")]
    return []


@register(INSTALLATION)
def tasks_end_before_leases(**_: Any) -> list[Error]:
    """TASK_TIMEOUT is shorter than the lease of every queue."""
    task = timedelta(seconds=settings.TASK_TIMEOUT)
    return [
        Error(
            f"TASK_TIMEOUT ({settings.TASK_TIMEOUT} s) is not shorter than the lease of {name} "
            f"({lease.total_seconds():g} s), so other workers would claim keys that a task is "
            "still processing.",
            hint="Shorten TASK_TIMEOUT, or lengthen the lease in the admin, under Queues.",
            id="trackers.E001",
        )
        for name, lease in _leases()
        if lease <= task
    ]


def _leases() -> list[tuple[str, timedelta]]:
    try:
        return list(Queue.objects.order_by("name").values_list("name", "lease"))
    except DatabaseError:
        # The database is away, or has no tables yet.
        return [("a queue", Queue._meta.get_field("lease").default)]


@register(INSTALLATION)
def tasks_have_time_for_a_renewal(**_: Any) -> list[Error]:
    """OAuth 2.0 tokens are renewed within the task that asks: two requests, one after the other."""
    twice = 2 * settings.REQUEST_TIMEOUT.total_seconds()
    if twice <= settings.TASK_TIMEOUT:
        return []
    try:
        name = Credential.objects.enabled().filter(kind=Credential.Kind.OAUTH2).values("name")[:1]
        names = [row["name"] for row in name]
    except DatabaseError:
        names = []
    return [
        Error(
            f"TASK_TIMEOUT ({settings.TASK_TIMEOUT} s) is shorter than twice REQUEST_TIMEOUT "
            f"({twice:g} s), and the credential {name} may need two requests: one for new tokens.",
            hint="Lengthen TASK_TIMEOUT, or shorten REQUEST_TIMEOUT.",
            id="trackers.E002",
        )
        for name in names
    ]
