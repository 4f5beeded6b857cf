"""Whether a namespace needs a person: its requests keep failing, or keys of it are isolated."""

from __future__ import annotations

from collections.abc import Iterator

from trackers.jobs.models import Namespace
from trackers.jobs.queue import namespaces
from trackers.jobs.statistics import queue_summary
from trackers.outbox.findings import Observation

# From the third failure in a row on a namespace is held (`holds.py`).
_HELD_FROM_FAILURES = 3
_URL = "/operations/"


def queue_findings() -> Iterator[Observation]:
    """Of each namespace. A pause by a person is not a trouble, and does not end one."""
    for namespace in Namespace.objects.all():
        failing = namespace.failures >= _HELD_FROM_FAILURES
        yield Observation(
            "namespace",
            namespace.name,
            f"Every request fails, so it waits longer each time: {namespace.held_because}"
            if failing
            else "",
            "Requests are answered again.",
            _URL,
        )
        if namespace.name in namespaces():
            yield Observation(
                "isolated",
                namespace.name,
                _describe_isolated(queue_summary(namespace.name).isolated),
                "Nothing is isolated.",
                _URL,
            )


def _describe_isolated(count: int) -> str:
    """The number may grow while it lasts: the alert says how many there were at first."""
    if not count:
        return ""
    are = "is" if count == 1 else "are"
    return (
        f"{count:,} of its keys {are} isolated: four workers in a row died while processing each. "
        "Retry them once you know why."
    )
