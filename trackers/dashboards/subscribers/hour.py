"""The last hour of a topic or a subscriber, as a rate and a sparkline."""

from __future__ import annotations

from trackers.dashboards.sparkline import Sparkline, by_minute
from trackers.dashboards.words import counted
from trackers.events.minutes import Hour


def rate(hour: Hour) -> str:
    """Events a minute, lately."""
    per_minute = hour.per_minute
    if 0 < per_minute < 10:
        return f"{per_minute:.1f} a minute"
    return f"{counted(round(per_minute))} a minute"


def curve(hour: Hour, done: str) -> Sparkline | None:
    """`done`: what was done with the events. None where there were none."""
    if not hour.events:
        return None
    most = counted(max(hour.minutes))
    label = f"{counted(hour.events)} {done} in the last hour, at most {most} in a minute"
    return by_minute(hour.minutes, label)
