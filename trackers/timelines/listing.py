"""Timelines for an operator to inspect, which does not count as reading them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from trackers.timelines.asks import Ask, checked_ask, missing
from trackers.timelines.entries import Entry, checked_count
from trackers.timelines.models import Timeline
from trackers.timelines.reads import read_timelines


class TimelineRow(NamedTuple):
    name: str
    live: bool
    size: int
    last_read_at: datetime


def listing(*, prefix: str = "", after: str = "", limit: int = 50) -> Sequence[TimelineRow]:
    """Timelines whose names have this prefix and come after `after`, in the order of names."""
    limit = checked_count(limit, of="A limit")
    timelines = Timeline.objects.filter(name__gt=after, name__gte=prefix)
    if prefix:
        # In the order of code points, names with the prefix end before this one.
        timelines = timelines.filter(name__lt=prefix + "\U0010ffff")
    rows = timelines.order_by("name").values_list(*TimelineRow._fields)[:limit]
    return [TimelineRow(*row) for row in rows]


def peek(ask: Ask) -> list[Entry]:
    """What `get` would return."""
    [timeline] = read_timelines([checked_ask(ask)])
    if timeline is None:
        raise missing(ask.name)
    return timeline.entries
