"""The forecast of catching up as a card and, while something is behind, as a sentence."""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import timedelta

from trackers.dashboards.operations.cards import Card
from trackers.dashboards.words import commas, lasting
from trackers.jobs.queue import URGENT_SHARE
from trackers.schedule.catch_up import CatchUp

_LABEL = "Catch-up"
_HELP = "How long until no tweet is overdue, given what X allows and the intervals need."
_NEVER = {
    "credentials": "Never with these credentials: the intervals need about {demand} tweets a "
    "second, and X allows {allowed}. Add credentials, or lengthen the intervals.",
    "workers": "Never with these workers: the intervals need about {demand} tweets a second, and "
    "their best minute of the last day came to {allowed}. Start another qcluster.",
}


def catch_up_card(forecast: CatchUp) -> Card:
    if forecast.state == "fresh":
        return Card(_LABEL, "fresh", "0 s", _HELP)
    if forecast.state == "never":
        return Card(_LABEL, "never", "never", _HELP, "bad")
    if forecast.length is None:
        return Card(_LABEL, "–", "not known", _HELP, "warn")
    exact = f"{forecast.length.total_seconds():.0f} s"
    return Card(_LABEL, _about(forecast.length), exact, _HELP, "warn")


def catch_up_sentence(
    forecast: CatchUp, *, due: int, youngest: float | None = None, said_above: Collection[str] = ()
) -> str:
    """Empty while nothing is behind. `youngest`: the longest wait of the youngest, in seconds.
    `said_above`: the notices of the page, none of which is repeated."""
    if forecast.state == "fresh":
        return ""
    sentence = _outlook(forecast, due=due, said_above=said_above)
    if youngest is None:
        return sentence
    return (
        f"{sentence} The youngest come first meanwhile, with up to {URGENT_SHARE}% of each "
        f"request; none of them has waited longer than {youngest:.0f} s."
    )


def _outlook(forecast: CatchUp, *, due: int, said_above: Collection[str] = ()) -> str:
    if forecast.state == "never":
        rates = {"demand": _rate(forecast.demand), "allowed": _rate(forecast.allowed)}
        return _NEVER[forecast.limited_by].format(**rates)
    if forecast.length is None:
        why = "See above." if forecast.why in said_above else forecast.why
        return f"{_tweets_are(due)} due, and there is no forecast. {why}"
    when = "after X answers again" if forecast.after_outage else "from now"
    return f"{_tweets_are(due)} due; all are fresh again about {_about(forecast.length)} {when}."


def _tweets_are(number: int) -> str:
    return "1 tweet is" if number == 1 else f"{commas(number)} tweets are"


def _about(length: timedelta) -> str:
    """In whole minutes, rounded up."""
    return lasting(timedelta(minutes=max(1, math.ceil(length / timedelta(minutes=1)))))


def _rate(a_second: float) -> str:
    return f"{a_second:,.0f}" if a_second >= 10 else f"{a_second:.2g}"
