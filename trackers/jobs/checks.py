"""Check at start that TASK_TIMEOUT is shorter than every lease that is set."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.checks import Error, register
from django.db import DatabaseError

from trackers.jobs.models import Queue
from tweetwatch.checks import INSTALLATION


@register(INSTALLATION)
def tasks_end_before_leases(**_: Any) -> list[Error]:
    """Check every queue; without a database, the lease that a new one gets."""
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
