"""Which fields each kind of rule has, and what it may be about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.alerts.models import AlertRule
from trackers.happenings.models import HappeningKind

RuleKind, About = AlertRule.Kind, AlertRule.About


@dataclass(frozen=True, slots=True)
class Shape:
    fields: tuple[str, ...]  # those besides name, addresses and pause
    about: tuple[AlertRule.About, ...]
    rest: timedelta  # the default pause
    lasting: timedelta = timedelta(minutes=5)  # the default of that field


_ABOUT_ANY_TWEET = tuple(About)
_ABOUT_MANY_TWEETS = tuple(about for about in About if about != About.TWEET)
_ONE_HOUR, _TWENTY_FOUR_HOURS = timedelta(hours=1), timedelta(days=1)

SHAPES = {
    RuleKind.VELOCITY: Shape(("metric", "minutes", "at"), _ABOUT_ANY_TWEET, 6 * _ONE_HOUR),
    RuleKind.MILESTONE: Shape(("metric", "at"), _ABOUT_ANY_TWEET, _TWENTY_FOUR_HOURS),
    RuleKind.USUAL: Shape(("metric", "times", "at"), _ABOUT_ANY_TWEET, _TWENTY_FOUR_HOURS),
    RuleKind.FELL: Shape(("metric", "at"), _ABOUT_ANY_TWEET, _TWENTY_FOUR_HOURS),
    RuleKind.WAVE: Shape((), _ABOUT_ANY_TWEET, _TWENTY_FOUR_HOURS),
    RuleKind.GONE: Shape((), _ABOUT_ANY_TWEET, _TWENTY_FOUR_HOURS),
    RuleKind.WORDS: Shape(("words", "any_word"), _ABOUT_MANY_TWEETS, _TWENTY_FOUR_HOURS),
    RuleKind.QUIET: Shape(
        ("lasting",), (About.AUTHOR, About.SOURCE), _ONE_HOUR, lasting=_TWENTY_FOUR_HOURS
    ),
    RuleKind.LATENESS: Shape(("late_by", "lasting"), (About.ANY,), _ONE_HOUR),
    RuleKind.CREDENTIAL: Shape((), (About.ANY,), _ONE_HOUR),
    RuleKind.SOURCE: Shape((), (About.ANY, About.SOURCE), _TWENTY_FOUR_HOURS),
    RuleKind.BUDGET: Shape((), (About.ANY,), _TWENTY_FOUR_HOURS),
    RuleKind.TROUBLE: Shape((), (About.ANY,), _ONE_HOUR),
}
# Which happenings each of these is about. Milestones are, for rules of a person's own alone: what
# everybody's are about are events.
HAPPENED = {
    RuleKind.MILESTONE: (HappeningKind.MILESTONE, HappeningKind.FIGURE),
    RuleKind.FELL: (HappeningKind.FELL,),
    RuleKind.WAVE: (HappeningKind.SECOND_WAVE,),
    RuleKind.GONE: (HappeningKind.GONE, HappeningKind.EDITED),
}
