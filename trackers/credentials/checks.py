"""System checks: OAuth 2.0 tokens are renewed within the task that asks, which needs the time."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import Error, register
from django.db import DatabaseError

from trackers.credentials.models import Credential
from tweetwatch.checks import INSTALLATION


@register(INSTALLATION)
def tasks_have_time_for_a_renewal(**_: Any) -> list[Error]:
    """A renewal and the look-up after it are two requests, one after the other."""
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
