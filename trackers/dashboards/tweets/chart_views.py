"""The curve of a tweet for the page's script, as a picture, and as a file of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.http import HttpRequest, HttpResponseBase, JsonResponse, QueryDict
from django.views.decorators.http import require_safe

from trackers.charts.drawing import MAX_WIDTH
from trackers.charts.line_chart import (
    METRIC_DASHES,
    Band,
    Line,
    LineChart,
    NamedMark,
)
from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.charts.pictures import PICTURES, as_picture
from trackers.dashboards.exports import as_file
from trackers.dashboards.tweets.annotations import annotations_of
from trackers.dashboards.tweets.asked import CurveQuery, get_tweet, parse_curve_query
from trackers.dashboards.tweets.curve import (
    FIRST_DAY,
    MAX_POINTS,
    MIN_POINTS,
    VIEWS,
    Curve,
    Mark,
    Series,
    benchmark_shades,
    cone,
    curve,
    describe_chart,
    first_day_end,
    runs_table,
    steps_of,
    steps_series,
    steps_table,
    totals_series,
)
from trackers.dashboards.tweets.outlook import ahead_of
from trackers.notes.models import Note, notes_of
from trackers.schedule.intervals import Plan, current
from trackers.scores.rule import MINIMUMS
from trackers.standbys.requests import on_standby
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet
from tweetwatch.notation import to_the_minute


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def series_json(request: HttpRequest, id: int) -> JsonResponse:
    tweet = get_tweet(id)
    now, plan = current()
    asked = parse_curve_query(request.GET, tweet, now=now)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    marks = _marks(request, tweet, drawn, asked, now=now)
    made = _series(tweet, drawn, asked, marks, points=_asked_points(request), now=now)
    return JsonResponse(made, headers={"Cache-Control": "no-store"})


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def chart_file(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """The chart as a picture, or what it shows as a table."""
    if form not in PICTURES:
        return samples_file(request, id, form)
    tweet = get_tweet(id)
    now, plan = current()
    asked = parse_curve_query(request.GET, tweet, now=now)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    marks = _marks(request, tweet, drawn, asked, now=now)
    series = _series(tweet, drawn, asked, marks, points=MAX_WIDTH, now=now)
    return as_picture(
        request, _chart(tweet, drawn, series, asked), form, name=f"tweet-{id}-{asked.view}"
    )


def public_chart(
    tweet: Tweet, query: QueryDict, *, with_notes: bool, plan: Plan, now: datetime
) -> LineChart:
    """For strangers: without what people did here."""
    asked = parse_curve_query(query, tweet, now=now)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    marks = [*(_note_marks(tweet, asked, now=now) if with_notes else ())]
    series = _series(tweet, drawn, asked, marks, points=MAX_WIDTH, now=now)
    return _chart(tweet, drawn, series, asked)


def _series(
    tweet: Tweet,
    drawn: Curve,
    asked: CurveQuery,
    marks: Iterable[Mark],
    *,
    points: int,
    now: datetime,
) -> Series:
    end = first_day_end(tweet) if asked.range == FIRST_DAY else None
    if asked.view == "totals":
        made = totals_series(tweet, drawn, range=asked.range, points=points)
        if drawn.runs:
            since, until = drawn.runs[0].taken_at, end or drawn.runs[-1].measured_until
            areas, metric, projection = ahead_of(tweet)
            count, born = getattr(tweet, metric, None), tweet.created_at
            if born:
                made["benchmark"] = benchmark_shades(born, areas, since, until)
            if projection and count and born and end and tweet.measured_until:
                age = tweet.measured_until - born
                made["projection"] = {metric: cone(born, age, count, projection)}
    else:
        steps = steps_of(tweet, drawn, asked.view)
        made = steps_series(tweet, steps, range=asked.range, view=asked.view)
    if end and tweet.created_at and drawn.runs:
        made["span"] = [tweet.created_at.timestamp(), end.timestamp()]
    made["minimum"] = MINIMUMS[asked.metrics[0]]
    made["marks"] = list(marks)
    return made


def _marks(
    request: HttpRequest, tweet: Tweet, drawn: Curve, asked: CurveQuery, *, now: datetime
) -> Iterator[Mark]:
    """What happened, and what people wrote on the tweet and on its days, if the person may read it;
    the page lists that itself."""
    since = asked.since(now)
    for one in annotations_of(tweet, drawn, since=since, now=now):
        yield {"at": one.moment.at.timestamp(), "number": one.number, "name": one.what}
    if request.user.has_perm("trackers.view_note"):
        yield from _note_marks(tweet, asked, now=now)


def _note_marks(tweet: Tweet, asked: CurveQuery, *, now: datetime) -> Iterator[Mark]:
    begin = asked.since(now) or tweet.created_at or tweet.tracked_at
    for note in notes_of(Note.Kind.TWEET, tweet.pk, (begin, now)):
        yield {"at": note.at.timestamp(), "number": 0, "name": f"Note: {note.text}"}


def _chart(tweet: Tweet, drawn: Curve, series: Series, asked: CurveQuery) -> LineChart:
    whose = str(tweet.author) if tweet.author else f"tweet {tweet.pk}"
    what = ", ".join(LABELS[metric] for metric in asked.metrics)
    how = "" if asked.view == "totals" else f" {VIEWS[asked.view].lower()}"
    until, first = tweet.measured_until, asked.metrics[0]
    measured = f"measured until {to_the_minute(until)} · " if until else ""
    shades = [of[first] for of in (series["benchmark"], series["projection"]) if first in of]
    return LineChart(
        title=f"{what}{how} of a tweet of {whose}",
        about=describe_chart(tweet, drawn, steps_of(tweet, drawn, asked.view), asked.view),
        source=f"{tweet.pk} · {measured}tweetwatch",
        x="time",
        lines=[
            Line(LABELS[one], one, series["times"], series["series"][one], METRIC_DASHES[one])
            for one in asked.metrics
        ],
        # Several of what is usual would cover each other: that of the first curve.
        bands=[
            Band(of["name"], first, of["times"], of["low"], of["high"], of["middle"])
            for of in shades
        ],
        marks=[NamedMark(mark["at"], mark["number"], mark["name"]) for mark in series["marks"]],
        is_log=asked.is_log,
        has_bars=asked.view != "totals",
        span=(series["span"][0], series["span"][1]) if series["span"] else None,
    )


def _asked_points(request: HttpRequest) -> int:
    asked = request.GET.get("points", "")
    points = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else MAX_POINTS
    return max(MIN_POINTS, min(points, MAX_POINTS))


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def samples_file(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """What the table shows, all of it: without a query the whole history, a line per run, as
    `manage.py export samples` writes it."""
    tweet = get_tweet(id)
    now, plan = current()
    asked = parse_curve_query(request.GET, tweet, now=now)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    if asked.view == "totals":
        return as_file(request, runs_table(tweet, drawn.runs), form, lacking=drawn.lacking)
    steps = steps_table(tweet, steps_of(tweet, drawn, asked.view), asked.view)
    return as_file(request, steps, form, lacking=drawn.lacking)
