"""Whether a namespace needs a person: its requests keep failing, or keys of it are isolated."""

from __future__ import annotations

from collections.abc import Iterator

from trackers.jobs.figures import figures
from trackers.jobs.models import Namespace
from trackers.jobs.queue import namespaces
from trackers.outbox.findings import Observation

# From the third failure in a row on a namespace is held (`holds.py`).
HELD_FROM = 3
URL = "/operations/"


def looks() -> Iterator[Observation]:
    """Of each namespace. A pause by a person is not a trouble, and does not end one."""
    for one in Namespace.objects.all():
        failing = one.failures >= HELD_FROM
        yield Observation(
            "namespace",
            one.name,
            f"Every request fails, so it waits longer each time: {one.held_because}"
            if failing
            else "",
            "Requests are answered again.",
            URL,
        )
        if one.name in namespaces():
            yield Observation(
                "isolated",
                one.name,
                isolated_said(figures(one.name).isolated),
                "Nothing is isolated.",
                URL,
            )


def isolated_said(count: int) -> str:
    """The number may grow while it lasts: the alert says how many there were at first."""
    if not count:
        return ""
    are = "is" if count == 1 else "are"
    return (
        f"{count:,} of its keys {are} isolated: four workers in a row died while processing each. "
        "Retry them once you know why."
    )
