"""Timelines for an operator to inspect, which does not count as reading them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from trackers.timelines.asks import Ask, checked_ask, missing
from trackers.timelines.entries import Entry, checked_count
from trackers.timelines.models import Timeline
from trackers.timelines.reads import read


class Listed(NamedTuple):
    name: str
    live: bool
    size: int
    last_read_at: datetime


def listing(*, prefix: str = "", after: str = "", limit: int = 50) -> Sequence[Listed]:
    """Timelines whose names have this prefix and come after `after`, in the order of names."""
    limit = checked_count(limit, of="A limit")
    found = Timeline.objects.filter(name__gt=after, name__gte=prefix)
    if prefix:
        # In the order of code points, names with the prefix end before this one.
        found = found.filter(name__lt=prefix + "\U0010ffff")
    rows = found.order_by("name").values_list(*Listed._fields)[:limit]
    return [Listed(*row) for row in rows]


def peek(ask: Ask) -> list[Entry]:
    """What `get` would return."""
    [found] = read([checked_ask(ask)])
    if found is None:
        raise missing(ask.name)
    return found.entries
