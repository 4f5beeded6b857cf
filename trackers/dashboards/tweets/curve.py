"""The curve of one tweet: its runs, its holes, and the JSON for the chart."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from trackers.dashboards.tweet_rows import LABELS, usual
from trackers.dashboards.words import counted, lasting
from trackers.schedule.intervals import Plan
from trackers.tweets.history import Run
from trackers.tweets.models import Tweet
from trackers.tweets.series import holes, since

RANGES = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "all": None,
}

# More points than this would exceed a screen's pixels.
POINTS_MOST = 2400


class Series(TypedDict):
    """`times` are epoch seconds; each of `series` has as many values. Null: a hole, or unknown."""

    tweet_id: str
    range: str
    times: list[float]
    series: dict[str, list[int | None]]
    runs: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Curve:
    runs: list[Run]
    holes: frozenset[int]


def curve(tweet: Tweet, plan: Plan, *, range: str, now: datetime) -> Curve:
    length = RANGES[range]
    runs = since(tweet.pk, now - length if length else None)
    return Curve(runs, holes(runs, usual(tweet, plan)))


def series(tweet: Tweet, found: Curve, *, range: str) -> Series:
    """Each run is drawn from its first to its last measurement, exactly as it was measured."""
    places, holes = thinned(found), sorted(found.holes)
    times: list[float] = []
    values: dict[str, list[int | None]] = {metric: [] for metric in LABELS}

    def put(at: float, run: Run | None) -> None:
        times.append(at)
        for metric, column in values.items():
            column.append(getattr(run, metric) if run else None)

    for before, place in zip([None, *places], places, strict=False):
        run = found.runs[place]
        if before is not None and bisect_right(holes, before) < bisect_right(holes, place):
            put((times[-1] + run.taken_at.timestamp()) / 2, None)
        put(run.taken_at.timestamp(), run)
        if run.measured_until > run.taken_at:
            put(run.measured_until.timestamp(), run)
    return {
        "tweet_id": str(tweet.pk),
        "range": range,
        "times": times,
        "series": values,
        "runs": len(found.runs),
        "drawn": len(places),
    }


def thinned(found: Curve) -> list[int]:
    """Indexes of the runs to draw: all; or of very many every n-th, the last, and around holes."""
    count = len(found.runs)
    every = -(-count // POINTS_MOST) if count > POINTS_MOST else 1
    kept = set(range(0, count, every)) | {count - 1} | found.holes | {p - 1 for p in found.holes}
    return sorted(place for place in kept if 0 <= place < count)


def told(runs: Sequence[Run], holes: frozenset[int]) -> str:
    """The curve in a sentence, for those who cannot see it."""
    if not runs:
        return "No measurement falls into this time."
    if len(runs) == 1 and runs[0].measurements == 1:
        return "One measurement so far."
    length = lasting(runs[-1].measured_until - runs[0].taken_at)
    parts = []
    for metric, label in LABELS.items():
        known = [value for run in runs if (value := getattr(run, metric)) is not None]
        if known and known[0] != known[-1]:
            verb = "rose" if known[-1] > known[0] else "fell"
            parts.append(f"{label} {verb} from {counted(known[0])} to {counted(known[-1])}")
    said = "; ".join(parts) or "Nothing changed"
    gaps = f" There are {len(holes)} gaps, in which nobody looked." if len(holes) > 1 else ""
    gaps = " There is one gap, in which nobody looked." if len(holes) == 1 else gaps
    return f"In {length}: {said}.{gaps}"
