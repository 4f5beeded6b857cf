"""The curve of a tweet for the page's script, as a picture, and as a file of what was measured."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.charts.line_chart import (
    MAX_WIDTH,
    METRIC_DASHES,
    Band,
    Line,
    LineChart,
    NamedMark,
)
from trackers.dashboards.charts.pictures import PICTURES, as_picture
from trackers.dashboards.exports import as_file
from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.tweets.annotations import annotations_of
from trackers.dashboards.tweets.asked import CurveQuery, get_tweet, parse_curve_query
from trackers.dashboards.tweets.curve import (
    MAX_POINTS,
    MIN_POINTS,
    VIEWS,
    Curve,
    Series,
    benchmark_shades,
    chart_marks,
    curve,
    describe_curve,
    describe_steps,
    runs_table,
    steps_of,
    steps_series,
    steps_table,
    totals_series,
)
from trackers.dashboards.tweets.outlook import bands_of
from trackers.schedule.intervals import current
from trackers.tweets.models import Tweet
from tweetwatch.notation import to_the_minute


@require_safe
@needs(VIEW_TWEETS)
def series_json(request: HttpRequest, id: int) -> JsonResponse:
    tweet = get_tweet(id)
    now, plan = current()
    asked = parse_curve_query(request)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    made = _series(tweet, drawn, asked, points=_asked_points(request), now=now)
    return JsonResponse(made, headers={"Cache-Control": "no-store"})


@require_safe
@needs(VIEW_TWEETS)
def chart_file(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """The chart as a picture, or what it shows as a table."""
    if form not in PICTURES:
        return samples_file(request, id, form)
    tweet = get_tweet(id)
    now, plan = current()
    asked = parse_curve_query(request)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    series = _series(tweet, drawn, asked, points=MAX_WIDTH, now=now)
    return as_picture(
        request, _chart(tweet, drawn, series, asked), form, name=f"tweet-{id}-{asked.view}"
    )


def _series(tweet: Tweet, drawn: Curve, asked: CurveQuery, *, points: int, now: datetime) -> Series:
    if asked.view == "totals":
        made = totals_series(tweet, drawn, range=asked.range, points=points)
        if drawn.runs:
            since, until = drawn.runs[0].taken_at, drawn.runs[-1].measured_until
            made["benchmark"] = benchmark_shades(tweet, bands_of(tweet, since, until, now=now))
    else:
        steps = steps_of(tweet, drawn, asked.view)
        made = steps_series(tweet, steps, range=asked.range, view=asked.view)
    made["marks"] = chart_marks(annotations_of(tweet, drawn.runs, since=asked.since(now), now=now))
    return made


def _chart(tweet: Tweet, drawn: Curve, series: Series, asked: CurveQuery) -> LineChart:
    metrics = asked.shown_metrics
    whose = str(tweet.author) if tweet.author else f"tweet {tweet.pk}"
    what = ", ".join(LABELS[metric] for metric in metrics)
    how = "" if asked.view == "totals" else f" {VIEWS[asked.view].lower()}"
    steps = steps_of(tweet, drawn, asked.view)
    until = tweet.measured_until
    measured = f"measured until {to_the_minute(until)} · " if until else ""
    first = next((metric for metric in metrics if metric in series["benchmark"]), "")
    return LineChart(
        title=f"{what or 'No metric'}{how} of a tweet of {whose}",
        about=describe_steps(steps, asked.view)
        if steps
        else describe_curve(drawn.runs, drawn.holes),
        source=f"{tweet.pk} · {measured}tweetwatch",
        x="time",
        lines=[
            Line(LABELS[one], one, series["times"], series["series"][one], METRIC_DASHES[one])
            for one in metrics
        ],
        bands=[
            Band("the author's usual", first, shade["times"], shade["low"], shade["high"])
            for shade in (series["benchmark"][first],)
        ]
        if first
        else [],
        marks=[NamedMark(mark["at"], mark["number"], mark["name"]) for mark in series["marks"]],
        is_log=asked.is_log,
        has_bars=asked.view != "totals",
    )


def _asked_points(request: HttpRequest) -> int:
    asked = request.GET.get("points", "")
    points = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else MAX_POINTS
    return max(MIN_POINTS, min(points, MAX_POINTS))


@require_safe
@needs(VIEW_TWEETS)
def samples_file(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """What the table shows, all of it: without a query the whole history, a line per run, as
    `manage.py export samples` writes it."""
    tweet = get_tweet(id)
    now, plan = current()
    asked = parse_curve_query(request)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    if asked.view == "totals":
        return as_file(request, runs_table(tweet, drawn.runs), form)
    return as_file(
        request, steps_table(tweet, steps_of(tweet, drawn, asked.view), asked.view), form
    )
