"""What a source may cost, in one plain sentence, before it is added."""

from __future__ import annotations

from datetime import timedelta

from trackers.ingest.sources.models import Source
from trackers.schedule.durations import spoken_after_every
from trackers.xapi.page import MAX_PAGE_SIZE

_BILLED = "X bills each post once per UTC day, so reading it again today costs nothing."


def cost(kind: str, *, every: timedelta, pages: int) -> str:
    """An upper bound, since it is unknown how much will be posted."""
    if kind == Source.Kind.STREAM:
        return f"A stream is not polled; it costs every post that the rule matches. {_BILLED}"
    if kind == Source.Kind.IMPORT:
        return "A file costs nothing by itself; the look-ups of its tweets do."
    polls = timedelta(days=1) // every
    many = f"{polls:,} polls a day" if polls > 1 else "One poll a day"
    return (
        f"{many} (one every {spoken_after_every(every)}), each of which costs its new posts, "
        f"{pages * MAX_PAGE_SIZE:,} at most. {_BILLED}"
    )
