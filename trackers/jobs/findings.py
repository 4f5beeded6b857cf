"""Whether a queue needs a person: requests or saves keep failing, or keys of it are isolated."""

from __future__ import annotations

from collections.abc import Iterator

from trackers.jobs.models import Queue
from trackers.jobs.queue import job_classes
from trackers.jobs.statistics import queue_summary
from trackers.outbox.findings import Observation

# From the third failure in a row on a queue is held (`holds.py`).
_HELD_FROM_FAILURES = 3
_URL = "/operations/"


def queue_findings() -> Iterator[Observation]:
    """Of each queue. A pause by a person is not a trouble, and does not end one."""
    for queue in Queue.objects.all():
        yield Observation(
            "queue",
            queue.name,
            _describe_failures(queue),
            "Requests are answered again, and their answers are saved.",
            _URL,
        )
        if queue.name in job_classes():
            yield Observation(
                "isolated",
                queue.name,
                _describe_isolated(queue_summary(queue.name).isolated),
                "Nothing is isolated.",
                _URL,
            )


def _describe_failures(queue: Queue) -> str:
    if queue.save_failures:
        return f"Nothing can be saved, so one request at a time is tried: {queue.held_reason}"
    if queue.failures >= _HELD_FROM_FAILURES:
        return f"Every request fails, so it waits longer each time: {queue.held_reason}"
    return ""


def _describe_isolated(count: int) -> str:
    """The number may grow while it lasts: the alert says how many there were at first."""
    if not count:
        return ""
    are = "is" if count == 1 else "are"
    return (
        f"{count:,} of its keys {are} isolated: four workers in a row died while processing each. "
        "Retry them once you know why."
    )
