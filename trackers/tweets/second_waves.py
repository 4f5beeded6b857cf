"""Every minute: second waves of tweets that calmed down long ago, as happenings.

the list of what gained most in an hour ─> the older ones ─> those that gained twice as much as in
the hour before ─> `anomalies` over all their runs ─> Happening
The cost of a minute is bounded by the length of the list.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from django.db import transaction

from trackers.happenings.models import Happening, HappeningKind
from trackers.tweets.anomalies import AnomalyKind, anomalies
from trackers.tweets.gains.models import Gain, Window
from trackers.tweets.history import Run, histories
from trackers.tweets.models import Tweet
from trackers.tweets.series import Usual, holes, recent_runs
from trackers.tweets.snowflake import born_at
from tweetwatch.pieces import take_work_lock

_WAVE_HOUR = timedelta(hours=1)
# The best hour, one of calm, and the new one.
_MIN_AGE = 3 * _WAVE_HOUR
# Of the list by views, and of that by likes where X shows no views.
_LISTED = {"views": 300, "likes": 100}
# Enough for two hours at a minute each.
_RUNS_READ = 160
# All runs of so many are read in a minute, the steepest first.
MOST_JUDGED = 20
# One wave is one happening, although it is found again each minute; later it is no news.
_ONCE_IN, _NEWS_FOR = timedelta(hours=12), timedelta(hours=3)


def note_second_waves(usual_of: Callable[[Tweet], Usual], *, now: datetime) -> int:
    """How many were found; none while another process looks. `usual_of`: how often a tweet is
    looked up, by which holes are known."""
    with transaction.atomic():
        return _note(usual_of, now=now) if take_work_lock("second waves") else 0


def _note(usual_of: Callable[[Tweet], Usual], *, now: datetime) -> int:
    risen = {
        row.tweet_id: (row.tweet, metric)
        for metric, most in _LISTED.items()
        for row in Gain.objects.fastest(Window.HOUR, metric, by="gain")[:most]
        if (metric == "views") == (row.tweet.views is not None)
        and now - (row.tweet.created_at or born_at(row.tweet_id)) >= _MIN_AGE
    }
    known = Happening.objects.filter(
        what=HappeningKind.SECOND_WAVE, tweet_id__in=risen, at__gte=now - _ONCE_IN
    )
    for id in known.values_list("tweet_id", flat=True):
        risen.pop(id, None)
    recent = recent_runs(risen, most=_RUNS_READ)
    steep = {id: _steepness(recent.get(id, []), metric) for id, (_, metric) in risen.items()}
    judged = sorted((id for id in steep if steep[id] >= 2), key=lambda id: -steep[id])
    found = []
    for id, runs in groupby(histories(judged[:MOST_JUDGED]), key=attrgetter("tweet_id")):
        found += _second_waves(list(runs), usual_of(risen[id][0]), since=now - _NEWS_FOR)
    Happening.objects.bulk_create(found)
    return len(found)


def _steepness(runs: Sequence[Run], metric: str) -> float:
    """How many times as much the last hour brought as the one before."""
    if not runs:
        return 0
    starts, end = [run.taken_at for run in runs], runs[-1].measured_until

    def count_at(at: datetime) -> int:
        place = bisect_right(starts, at) - 1
        return getattr(runs[max(0, place)], metric) or 0

    now, before, earlier = (count_at(end - hours * _WAVE_HOUR) for hours in range(3))
    return (now - before) / max(1, before - earlier)


def _second_waves(runs: Sequence[Run], usual: Usual, *, since: datetime) -> list[Happening]:
    """The newest, if it began at `since` or later."""
    waves = [
        anomaly
        for anomaly in anomalies(runs, holes(runs, usual))
        if anomaly.kind is AnomalyKind.SECOND_WAVE and anomaly.at >= since
    ]
    return [
        Happening(
            what=HappeningKind.SECOND_WAVE,
            tweet_id=runs[0].tweet_id,
            at=wave.at,
            figures={"metric": wave.metric, "before": wave.before, "after": wave.after},
        )
        for wave in waves[-1:]
    ]
