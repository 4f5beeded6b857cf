"""The curve of one tweet: its runs, its holes, the JSON for the chart, and its tables as files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from trackers.charts.scales import shortened
from trackers.dashboards.tweets.growth import DAY_LENGTH, Step, daily_steps, hourly_steps
from trackers.dashboards.words import commas, lasting
from trackers.schedule.intervals import Plan, usual_interval
from trackers.scores.earlier import UsualArea
from trackers.tweets.export import SAMPLE_COLUMNS
from trackers.tweets.growth.at_ages import ages
from trackers.tweets.growth.projection import FULL_AGE, Projection
from trackers.tweets.history import Run, RunRange, history
from trackers.tweets.labels import LABELS
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.series import holes
from tweetwatch.notation import day, day_of, next_day, to_the_minute
from tweetwatch.tables import Column, Table


@dataclass(frozen=True, slots=True)
class Range:
    words: str
    length: timedelta | None  # up to now; None: from the posting on


FIRST_DAY = "day"
RANGES = {
    FIRST_DAY: Range("to 24 h", None),
    "1h": Range("last 1 h", timedelta(hours=1)),
    "24h": Range("last 24 h", timedelta(days=1)),
    "7d": Range("last 7 d", timedelta(days=7)),
    "all": Range("all", None),
}

# What is drawn: what it had, how fast that grew, or what each day added.
VIEWS = {"totals": "Totals", "rate": "Per hour", "days": "Per day"}

# Points of a cone, and of what is usual; they are joined by straight lines.
_CONE_STEPS, _USUAL_POINTS = 12, 48
_AT_BIRTH, _INSTANT = timedelta(0), timedelta(microseconds=1)
# A chart asks for two points for each pixel of its width; more would not be seen.
MIN_POINTS, MAX_POINTS = 200, 2400


class Shade(TypedDict):
    """What is usual, or expected: from `low` to `high`, around `middle`."""

    name: str
    times: list[float]  # epoch seconds
    low: list[float]
    middle: list[float]
    high: list[float]


class Mark(TypedDict):
    at: float
    number: int  # in the list of what happened; 0: not in it
    name: str


class Series(TypedDict):
    tweet_id: str
    range: str
    view: str
    times: list[float]  # epoch seconds
    # As many values each as there are times. Null: a hole, or unknown.
    series: dict[str, list[int | float | None]]
    minimum: int  # Where less of the first metric is usual, it is compared with so many.
    runs: int
    drawn: int
    benchmark: dict[str, Shade]  # by metric, what the author's earlier tweets had at the same age
    projection: dict[str, Shade]  # by metric, from now on
    marks: list[Mark]
    span: list[float]  # the first and last time of the axis; none: as far as there are figures


@dataclass(frozen=True, slots=True)
class Curve:
    runs: list[Run]
    holes: frozenset[int]
    # What is not among the runs, if something could not be read; a sentence.
    lacking: str = ""


def curve(tweet: Tweet, plan: Plan, *, range: str, now: datetime) -> Curve:
    length = RANGES[range].length
    end = first_day_end(tweet) if range == FIRST_DAY else None
    asked = RunRange(now - length if length else None, end and end + _INSTANT)
    runs = history(tweet.pk, asked)
    return Curve(runs, holes(runs, usual_interval(tweet, plan)), runs.lacking)


def steps_of(tweet: Tweet, drawn: Curve, view: str) -> list[Step]:
    """What its views other than the totals draw."""
    if view == "days":
        return daily_steps(drawn.runs, drawn.holes, born=tweet.created_at)
    return hourly_steps(drawn.runs, drawn.holes) if view == "rate" else []


def first_day_end(tweet: Tweet) -> datetime | None:
    return tweet.created_at and tweet.created_at + DAY_LENGTH


def totals_series(tweet: Tweet, curve: Curve, *, range: str, points: int = MAX_POINTS) -> Series:
    """Each run is drawn from its first to its last measurement, exactly as it was measured."""
    places, holes = runs_to_draw(curve, points), sorted(curve.holes)
    times: list[float] = []
    values: dict[str, list[int | float | None]] = {metric: [] for metric in LABELS}

    def put(at: float, run: Run | None) -> None:
        times.append(at)
        for metric, column in values.items():
            column.append(getattr(run, metric) if run else None)

    for before, place in zip([None, *places], places, strict=False):
        run = curve.runs[place]
        if before is not None and bisect_right(holes, before) < bisect_right(holes, place):
            put((times[-1] + run.taken_at.timestamp()) / 2, None)
        put(run.taken_at.timestamp(), run)
        if run.measured_until > run.taken_at:
            put(run.measured_until.timestamp(), run)
    return {
        "tweet_id": str(tweet.pk),
        "range": range,
        "view": "totals",
        "times": times,
        "series": values,
        "minimum": 0,
        "runs": len(curve.runs),
        "drawn": len(places),
        "benchmark": {},
        "projection": {},
        "marks": [],
        "span": [],
    }


def steps_series(tweet: Tweet, steps: Sequence[Step], *, range: str, view: str) -> Series:
    """A rate holds from one measurement to the next, and a gain for its day; holes lie between."""
    times: list[float] = []
    values: dict[str, list[int | float | None]] = {metric: [] for metric in LABELS}

    def put(at: float, step: Step | None) -> None:
        times.append(at)
        for metric, column in values.items():
            column.append(amount(step, metric, view) if step else None)

    spans = [_span(step, view) for step in steps]
    for place, (step, (start, end)) in enumerate(zip(steps, spans, strict=True)):
        following = spans[place + 1][0] if place + 1 < len(spans) else None
        put(start, step)
        if following is None or following > end:
            put(end, step)
        if following is not None and following > end:
            put((end + following) / 2, None)
    return {
        "tweet_id": str(tweet.pk),
        "range": range,
        "view": view,
        "times": times,
        "series": values,
        "minimum": 0,
        "runs": len(steps),
        "drawn": len(steps),
        "benchmark": {},
        "projection": {},
        "marks": [],
        "span": [],
    }


def _span(step: Step, view: str) -> tuple[float, float]:
    """From when until when it is drawn, in epoch seconds."""
    if view == "days":
        return day_of(step.until).timestamp(), next_day(step.until).timestamp()
    return step.since.timestamp(), step.until.timestamp()


def benchmark_shades(
    born: datetime, areas: Mapping[str, UsualArea], since: datetime, until: datetime
) -> dict[str, Shade]:
    """What is usual, at the times from `since` to `until` at which this tweet had those ages."""
    if until <= born:
        return {}
    shades: dict[str, Shade] = {}
    for metric, area in areas.items():
        drawn = [
            ((born + age).timestamp(), *usual)
            for age in ages(until - born, count=_USUAL_POINTS, since=max(_AT_BIRTH, since - born))
            if (usual := area.at(age))
        ]
        if drawn:
            times, low, middle, high = (list(column) for column in zip(*drawn, strict=True))
            shades[metric] = {
                "name": "the author's usual",
                "times": times, "low": low, "middle": middle, "high": high,
            }  # fmt: skip
    return shades


def cone(born: datetime, age: timedelta, count: int, projection: Projection) -> Shade:
    """From what it has to what it is expected to have after a day, as tweets grow: a straight line
    where both axes are logarithmic."""
    ratio = FULL_AGE / age
    ages = [age * ratio ** (step / _CONE_STEPS) for step in range(_CONE_STEPS + 1)]

    def grown(total: float) -> list[float]:
        growth = max(total, 1) / max(count, 1)
        return [count * growth ** (step / _CONE_STEPS) for step in range(_CONE_STEPS + 1)]

    return {
        "name": f"expected: {shortened(projection.total)} at 24 h",
        "times": [(born + age).timestamp() for age in ages],
        "low": grown(projection.low),
        "middle": grown(projection.total),
        "high": grown(projection.high),
    }


def runs_to_draw(curve: Curve, points: int = MAX_POINTS) -> list[int]:
    """Indexes of the runs to draw: all; or, of very many, in each stretch of them the first and the
    one after the deepest fall, and those around holes, and the last."""
    runs, count = curve.runs, len(curve.runs)
    if count <= points:
        return list(range(count))
    every = -(-2 * count // points)
    kept = {count - 1} | curve.holes | {place - 1 for place in curve.holes}
    for start in range(0, count, every):
        kept.add(start)
        deepest = max(
            range(max(1, start), min(start + every, count)),
            key=lambda place: _fall(runs[place - 1], runs[place]),
            default=start,
        )
        if deepest and _fall(runs[deepest - 1], runs[deepest]) > 0:
            kept.add(deepest)
            kept.add(deepest - 1)
    return sorted(place for place in kept if 0 <= place < count)


def _fall(before: Run, after: Run) -> float:
    """The largest share by which a metric fell from one run to the next; 0 if none did."""
    worst = 0.0
    for old, new in zip(before.counts, after.counts, strict=True):
        if old and new is not None and new < old:
            worst = max(worst, 1 - new / old)
    return worst


def describe_chart(tweet: Tweet, drawn: Curve, steps: Sequence[Step], view: str) -> str:
    """What the chart shows in a sentence, for those who cannot see it."""
    if steps:
        return _describe_steps(steps, view)
    return _describe_curve(tweet, drawn.runs, drawn.holes)


def _describe_curve(tweet: Tweet, runs: Sequence[Run], holes: frozenset[int]) -> str:
    if tweet.measured_until is None:
        if tweet.gone_at:
            return "It was never measured: X no longer shows it."
        return "Not measured yet. The curve begins with the first check."
    if not runs:
        return "There are no measurements in this range."
    if len(runs) == 1 and runs[0].measurements == 1:
        return "One measurement so far. The curve begins with the second."
    length = lasting(runs[-1].measured_until - runs[0].taken_at)
    parts = []
    for metric, label in LABELS.items():
        known = [value for run in runs if (value := getattr(run, metric)) is not None]
        if known and known[0] != known[-1]:
            verb = "rose" if known[-1] > known[0] else "fell"
            parts.append(f"{label} {verb} from {commas(known[0])} to {commas(known[-1])}")
    changes = "; ".join(parts) or "Nothing changed"
    gaps = f" There are {len(holes)} gaps without measurements." if len(holes) > 1 else ""
    gaps = " There is one gap without measurements." if len(holes) == 1 else gaps
    return f"In {length}: {changes}.{gaps}"


def _describe_steps(steps: Sequence[Step], view: str) -> str:
    """The rates, or the gains of days, in a sentence."""
    if not steps:
        return "It takes two measurements to tell how fast it grows."
    parts = []
    for metric, label in LABELS.items():
        known = [(at, step) for step in steps if (at := amount(step, metric, view)) is not None]
        if not any(at for at, _ in known):
            continue
        most, when = max(known, key=lambda pair: pair[0])
        last = known[-1][0]
        if view == "days":
            parts.append(
                f"{label} grew most on {day(when.until)}, by {commas(round(most))}, "
                f"and by {commas(round(last))} on the last day"
            )
        else:
            parts.append(
                f"{label} grew fastest at {to_the_minute(when.until)}, by "
                f"{commas(round(most))} an hour, and by {commas(round(last))} an hour lately"
            )
    return ("; ".join(parts) or "Nothing changed") + "."


def amount(step: Step, metric: str, view: str) -> float | None:
    return step.gained[metric] if view == "days" else step.per_hour(metric)


def runs_table(tweet: Tweet, runs: Sequence[Run]) -> Table:
    return Table(f"tweet-{tweet.pk}-samples", SAMPLE_COLUMNS, runs)


def steps_table(tweet: Tweet, steps: Sequence[Step], view: str) -> Table:
    """Per hour, or per day of the reader; `has_hole`: for a part of that time nobody looked."""
    columns = [
        Column("tweet_id", "id"),
        Column("since", "time"),
        Column("until", "time"),
        *(Column(metric, "whole" if view == "days" else "number") for metric in METRICS),
        Column("has_hole", "yes_no"),
    ]
    rows = (
        (
            tweet.pk,
            day_of(step.until) if view == "days" else step.since,
            step.until,
            *(amount(step, metric, view) for metric in METRICS),
            step.gap,
        )
        for step in steps
    )
    return Table(f"tweet-{tweet.pk}-{view}", columns, rows)
