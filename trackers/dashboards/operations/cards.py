"""The forecast of catching up in a sentence, and the last hour of checks as bars."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.figures import (
    LATE_AFTER,
    VERY_LATE_AFTER,
    Figure,
    about,
    hour_figures,
)
from trackers.dashboards.words import Moment, ago, brief, commas
from trackers.jobs.observed.database import Horizon
from trackers.jobs.queue import URGENT_SHARE
from trackers.jobs.statistics import MinuteCounters, QueueSummary
from trackers.schedule.catch_up import CatchUp
from tweetwatch.amounts import amount
from tweetwatch.notation import time_of_day

# A full count older than this is shown with its age.
_OLD_AFTER = timedelta(seconds=30)
_NEVER_CATCHES_UP = {
    "credentials": "Never with these credentials: the intervals need about {demand} tweets a "
    "second, and X allows {allowed}. Add credentials, or lengthen the intervals.",
    "workers": "Never with these workers: the intervals need about {demand} tweets a second, and "
    "their best minute of the last day came to {allowed}. Start another qcluster.",
}
_MINUTES_SHOWN = 60
_BAR, _GAP, _BARS_HEIGHT = 9, 2, 72


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


def snapshot_figure(horizon: Horizon) -> Figure:
    """A transaction that stays open for long keeps the queue from being vacuumed."""
    seconds, who = horizon.seconds, f" ({horizon.who}, pid {horizon.pid})" if horizon.pid else ""
    mood = "bad" if seconds > VERY_LATE_AFTER else "warn" if seconds > LATE_AFTER else ""
    return Figure(
        "database.oldest_snapshot",
        "Oldest snapshot",
        brief(seconds),
        f"{seconds} s{who}",
        "How long the oldest transaction has been open. Rows that have died since then "
        "cannot be removed from the queue, so claims get slower.",
        mood,
    )


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
        f"request; none of them has waited longer than {brief(youngest)}."
    )


def _outlook(forecast: CatchUp, *, due: int, said_above: Collection[str] = ()) -> str:
    if forecast.state == "never":
        rates = {"demand": _rate(forecast.demand), "allowed": _rate(forecast.allowed)}
        return _NEVER_CATCHES_UP[forecast.limited_by].format(**rates)
    if forecast.length is None:
        why = "See above." if forecast.why in said_above else forecast.why
        return f"{_tweets_are(due)} due, and there is no forecast. {why}"
    when = "after X answers again" if forecast.after_outage else "from now"
    return f"{_tweets_are(due)} due; all are fresh again about {about(forecast.length)} {when}."


def _tweets_are(number: int) -> str:
    return amount(number, "tweet is", "tweets are")


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
    total: Figure
    most: str
    label: str
    width: int = _MINUTES_SHOWN * (_BAR + _GAP) - _GAP
    height: int = _BARS_HEIGHT


def bars(minutes: Iterable[MinuteCounters], *, now: datetime) -> Bars:
    minutes = list(minutes)
    total = hour_figures(minutes).checks
    measured = {minute.minute: minute.measured for minute in minutes}
    last = now.replace(second=0, microsecond=0)
    times = [last - timedelta(minutes=back) for back in range(_MINUTES_SHOWN - 1, -1, -1)]
    most = max((measured.get(at, 0) for at in times), default=0)
    return Bars(
        bars=tuple(_bar(place, at, measured.get(at, 0), most) for place, at in enumerate(times)),
        total=total,
        most=commas(most),
        label=f"{amount(int(total.exact), 'check')} in the last 60 minutes, "
        f"at most {commas(most)} in a minute",
    )


def _bar(place: int, at: datetime, measured: int, most: int) -> Bar:
    height = _BARS_HEIGHT * measured / most if most else 0
    return Bar(
        x=place * (_BAR + _GAP),
        y=f"{_BARS_HEIGHT - height:.1f}",
        height=f"{height:.1f}",
        words=f"{time_of_day(at)}: {amount(measured, 'check')}",
    )
