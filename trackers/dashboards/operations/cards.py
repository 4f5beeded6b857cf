"""The queue's figures as cards (a label, a rounded value, and the exact figure behind it), the
forecast of catching up, and the last hour of checks as bars.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.words import Moment, ago, commas, lasting
from trackers.jobs.observed.database import Horizon
from trackers.jobs.queue import URGENT_SHARE
from trackers.jobs.statistics import MinuteCounters, QueueSummary
from trackers.schedule.catch_up import CatchUp

# The oldest due tweet should wait little longer than the buffer's time; beyond this, investigate.
LATE_AFTER = 30.0
VERY_LATE_AFTER = 300.0
# A full count older than this is shown with its age.
_OLD_AFTER = timedelta(seconds=30)
_CATCH_UP_LABEL = "Catch-up"
_CATCH_UP_HELP = "How long until no tweet is overdue, given what X allows and the intervals need."
_NEVER_CATCHES_UP = {
    "credentials": "Never with these credentials: the intervals need about {demand} tweets a "
    "second, and X allows {allowed}. Add credentials, or lengthen the intervals.",
    "workers": "Never with these workers: the intervals need about {demand} tweets a second, and "
    "their best minute of the last day came to {allowed}. Start another qcluster.",
}
_MINUTES_SHOWN = 60
_BAR, _GAP, _BARS_HEIGHT = 9, 2, 72


@dataclass(frozen=True, slots=True)
class Card:
    label: str
    value: str
    exact: str  # the number unrounded
    help: str  # explains it
    mood: str = ""  # "", "warn" or "bad"


@dataclass(frozen=True, slots=True)
class CountAge:
    """For a long queue: when it was counted, if long ago; or that it never was."""

    at: Moment | None = None
    is_missing: bool = False


def count_age(figures: QueueSummary, *, now: datetime) -> CountAge:
    at = figures.counted_at
    if at is None:
        return CountAge(is_missing=figures.is_cut_off)
    return CountAge(ago(at, now=now) if now - at > _OLD_AFTER else None)


def cards(figures: QueueSummary) -> tuple[Card, ...]:
    return (
        _whole_card("Scheduled", figures.scheduled, "Tweets that have a next check."),
        _whole_card("Due", figures.due, "Tweets whose check is due now."),
        _seconds_card(
            "Oldest due",
            figures.oldest_due_seconds,
            "How long ago the most overdue tweet should have been checked.",
            mood=lateness_mood(figures.oldest_due_seconds),
        ),
        _whole_card("In flight", figures.in_flight, "Tweets that a worker is asking X about."),
        _whole_card("Checked / min", figures.checked_last_minute, "In the last 60 seconds."),
        _seconds_card(
            "Lateness, half", figures.lateness_p50_seconds, "Half of the last five minutes' checks "
            "were no later than this.",
        ),
        _seconds_card(
            "Lateness, 99%", figures.lateness_p99_seconds, "99 of 100 checks of the last "
            "five minutes were no later than this.",
            mood=lateness_mood(figures.lateness_p99_seconds),
        ),
        _fill_card(figures.batch_fill),
        _whole_card(
            "Isolated", figures.isolated, "Tweets set aside after four checks that never finished.",
            mood="warn" if figures.isolated else "",
        ),
    )  # fmt: skip


def snapshot_card(horizon: Horizon) -> Card:
    """A transaction that stays open for long keeps the queue from being vacuumed."""
    seconds, who = horizon.seconds, f" ({horizon.who}, pid {horizon.pid})" if horizon.pid else ""
    mood = "bad" if seconds > VERY_LATE_AFTER else "warn" if seconds > LATE_AFTER else ""
    return Card(
        "Oldest snapshot",
        f"{seconds:,.1f} s",
        f"{seconds} s{who}",
        "How long the oldest transaction has been open. Rows that have died since then "
        "cannot be removed from the queue, so claims get slower.",
        mood,
    )


def lateness_mood(seconds: float | None) -> str:
    if seconds is None or seconds < LATE_AFTER:
        return ""
    return "warn" if seconds < VERY_LATE_AFTER else "bad"


def _whole_card(label: str, number: int, help: str, mood: str = "") -> Card:
    return Card(label, commas(number), str(number), help, mood)


def _seconds_card(label: str, number: float | None, help: str, mood: str = "") -> Card:
    if number is None:
        return Card(label, "–", "not known", help, mood)
    return Card(label, f"{number:,.1f} s", f"{number} s", help, mood)


def _fill_card(ids: float | None) -> Card:
    help = "How many tweets a request asks for, on average over the last five minutes; X takes 100."
    if ids is None:
        return Card("Ids per request", "–", "not known", help)
    return Card("Ids per request", f"{ids:,.1f}", f"{ids} ids a request", help)


def catch_up_card(forecast: CatchUp) -> Card:
    if forecast.state == "fresh":
        return Card(_CATCH_UP_LABEL, "fresh", "0 s", _CATCH_UP_HELP)
    if forecast.state == "never":
        return Card(_CATCH_UP_LABEL, "never", "never", _CATCH_UP_HELP, "bad")
    if forecast.length is None:
        return Card(_CATCH_UP_LABEL, "–", "not known", _CATCH_UP_HELP, "warn")
    exact = f"{forecast.length.total_seconds():.0f} s"
    return Card(_CATCH_UP_LABEL, _about(forecast.length), exact, _CATCH_UP_HELP, "warn")


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
        return _NEVER_CATCHES_UP[forecast.limited_by].format(**rates)
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


@dataclass(frozen=True, slots=True)
class Bar:
    x: int
    y: str
    height: str
    words: str


@dataclass(frozen=True, slots=True)
class Bars:
    """The newest is on the right; the last minute is not over yet."""

    bars: tuple[Bar, ...]
    most: str
    label: str
    width: int = _MINUTES_SHOWN * (_BAR + _GAP) - _GAP
    height: int = _BARS_HEIGHT


def bars(minutes: Iterable[MinuteCounters], *, now: datetime) -> Bars:
    measured = {minute.minute: minute.measured for minute in minutes}
    last = now.replace(second=0, microsecond=0)
    times = [last - timedelta(minutes=back) for back in range(_MINUTES_SHOWN - 1, -1, -1)]
    most = max((measured.get(at, 0) for at in times), default=0)
    total = sum(measured.get(at, 0) for at in times)
    return Bars(
        bars=tuple(_bar(place, at, measured.get(at, 0), most) for place, at in enumerate(times)),
        most=commas(most),
        label=f"{commas(total)} checks in the last 60 minutes, at most {commas(most)} in a minute",
    )


def _bar(place: int, at: datetime, measured: int, most: int) -> Bar:
    height = _BARS_HEIGHT * measured / most if most else 0
    return Bar(
        x=place * (_BAR + _GAP),
        y=f"{_BARS_HEIGHT - height:.1f}",
        height=f"{height:.1f}",
        words=f"{at:%H:%M} UTC: {commas(measured)} checks",
    )
