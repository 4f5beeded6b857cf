"""Which fields each kind of rule has, and what it may be about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.alerts.models import AlertRule

Kind, About = AlertRule.Kind, AlertRule.About


@dataclass(frozen=True, slots=True)
class Shape:
    """`fields`: those besides name, addresses and pause. `rest`: the default pause."""

    fields: tuple[str, ...]
    about: tuple[AlertRule.About, ...]
    rest: timedelta


TWEETS = (About.ANY, About.TWEET, About.AUTHOR, About.SOURCE)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

SHAPES = {
    Kind.VELOCITY: Shape(("metric", "minutes", "at"), TWEETS, 6 * HOUR),
    Kind.MILESTONE: Shape(("metric", "at"), TWEETS, DAY),
    Kind.USUAL: Shape(("metric", "times", "at"), TWEETS, DAY),
    Kind.LATENESS: Shape(("late_by", "lasting"), (About.ANY,), HOUR),
    Kind.CREDENTIAL: Shape((), (About.ANY,), HOUR),
    Kind.SOURCE: Shape((), (About.ANY, About.SOURCE), DAY),
    Kind.BUDGET: Shape((), (About.ANY,), DAY),
    Kind.TROUBLE: Shape((), (About.ANY,), HOUR),
}
ABOUT_TWEETS = (Kind.VELOCITY, Kind.MILESTONE, Kind.USUAL)
