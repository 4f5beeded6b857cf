"""The page that compares tweets by age. All that it shows is in its address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypedDict
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.charts.line_chart import (
    LINE_COLOURS,
    LINE_DASHES,
    Band,
    Line,
    LineChart,
)
from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.charts.pictures import PICTURES, as_picture
from trackers.dashboards.compare.aligned import (
    TABLE_AGES,
    Cell,
    Checkpoints,
    Crowd,
    IntervalAt,
    TweetCurve,
    age_cell,
    crowd,
    curve_ages,
    describe_comparison,
    measured_points,
    median_cell,
    middle_cell,
)
from trackers.dashboards.compare.query import (
    AGE_RANGES,
    MAX_TWEETS,
    CompareQuery,
    parse_compare_query,
)
from trackers.dashboards.exports import as_file
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.schedule.intervals import Plan, current, usual_interval
from trackers.scores.rule import MAX_POSTS
from trackers.standbys.requests import on_standby
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.growth.at_ages import Born
from trackers.tweets.growth.earlier import of_author, of_these
from trackers.tweets.growth.lines import lines_by_age
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Author, Tweet
from tweetwatch.tables import Column, Table

_EXCERPT = 60


class CurveJson(TypedDict):
    tweet_id: str
    place: int
    ages: list[float]  # in minutes
    values: list[int | None]


class BandJson(TypedDict):
    place: int
    ages: list[float]
    low: list[float]
    high: list[float]
    median: list[float]


@dataclass(frozen=True, slots=True)
class Comparison:
    asked: CompareQuery
    author: Author | None
    lines: list[TweetCurve]
    crowds: list[Crowd]
    checkpoints: Checkpoints
    every: IntervalAt
    until: timedelta
    now: datetime
    # What the lines do not show, if something could not be read; a sentence.
    lacking: str

    @property
    def is_enough(self) -> bool:
        return bool(self.crowds) or len(self.lines) > 1


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def compare_page(request: HttpRequest) -> HttpResponse:
    comparison = _read_comparison(request.GET)
    asked, label = comparison.asked, LABELS[comparison.asked.metric]
    cells = [_cells_of(line, comparison.now) for line in comparison.lines]
    context = {
        "now": comparison.now,
        "asked": asked,
        "found": comparison,
        "label": label,
        "labels": {name: (words, asked.address(metric=name)) for name, words in LABELS.items()},
        "ranges": {name: asked.address(until=name) for name in AGE_RANGES},
        "ages": list(TABLE_AGES.values()),
        "lines": [
            (line, row, asked.without(line.born.id))
            for line, row in zip(comparison.lines, cells, strict=True)
        ],
        "crowds": [
            (
                crowd,
                [middle_cell(crowd.middles.get(age)) for age in TABLE_AGES],
                [median_cell(crowd.middles.get(age)) for age in TABLE_AGES],
            )
            for crowd in comparison.crowds
        ],
        "shared": urlencode(
            {"kind": "comparison", "of": ",".join(map(str, asked.ids)), "query": asked.address()}
        ),
        "told": describe_comparison(comparison.lines, cells, comparison.crowds, label.lower()),
        "author": comparison.author,
        "is_full": len(asked.ids) >= MAX_TWEETS,
        "most": MAX_TWEETS,
        "without_author": asked.address(author=None),
        "without_source": asked.address(source=None),
    }
    return render(request, "dashboards/compare/page.html", context)


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def compare_series(request: HttpRequest) -> JsonResponse:
    """Of each tweet what was measured, and of each band its middle, by `ages` in minutes since the
    posting; a value is null where a gap begins."""
    comparison = _read_comparison(request.GET)
    return JsonResponse(
        {
            "metric": comparison.asked.metric,
            "tweets": [_curve_json(line, comparison) for line in comparison.lines],
            "bands": [_band_json(crowd, until=comparison.until) for crowd in comparison.crowds],
        },
        headers={"Cache-Control": "no-store"},
    )


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def compare_chart(request: HttpRequest, form: str) -> HttpResponseBase:
    """The chart as a picture, or what it shows as a table."""
    if form not in PICTURES:
        return compare_file(request, form)
    comparison = _read_comparison(request.GET)
    name = f"compare-{comparison.asked.metric}"
    return as_picture(request, _chart_of(comparison), form, name=name)


def public_comparison(query: QueryDict) -> LineChart:
    """For strangers: without texts."""
    comparison = _read_comparison(query)
    bare = [replace(line, text="") for line in comparison.lines]
    return _chart_of(replace(comparison, lines=bare))


def _chart_of(comparison: Comparison) -> LineChart:
    asked, label = comparison.asked, LABELS[comparison.asked.metric]
    cells = [_cells_of(line, comparison.now) for line in comparison.lines]
    curves = [(line, _curve_json(line, comparison)) for line in comparison.lines]
    bands = [(crowd, _band_json(crowd, until=comparison.until)) for crowd in comparison.crowds]
    return LineChart(
        title=f"{label} by age",
        about=describe_comparison(comparison.lines, cells, comparison.crowds, label.lower()),
        source=f"up to {asked.until} after posting · tweetwatch",
        x="age",
        lines=[
            _line(
                line.place,
                _line_name(line),
                of["ages"],
                of["values"],
            )
            for line, of in curves
        ]
        + [
            _line(crowd.place, f"Median of {crowd.name}", of["ages"], of["median"])
            for crowd, of in bands
        ],
        bands=[
            Band(
                f"Middle half of {crowd.name}",
                LINE_COLOURS[crowd.place - 1],
                of["ages"],
                of["low"],
                of["high"],
            )
            for crowd, of in bands
        ],
        is_log=asked.is_log,
    )


def _line_name(line: TweetCurve) -> str:
    return f"{line.place} {line.name} {line.text}".strip()


def _line(place: int, name: str, ages: list[float], values: Sequence[float | None]) -> Line:
    return Line(name, LINE_COLOURS[place - 1], ages, values, LINE_DASHES[place - 1])


def _curve_json(line: TweetCurve, comparison: Comparison) -> CurveJson:
    points = measured_points(line, comparison.until, comparison.every)
    return {
        "tweet_id": str(line.born.id),
        "place": line.place,
        "ages": [age / timedelta(minutes=1) for age, _ in points],
        "values": [value for _, value in points],
    }


def _band_json(crowd: Crowd, *, until: timedelta) -> BandJson:
    inside = {age: middle for age, middle in crowd.middles.items() if age <= until}
    return {
        "place": crowd.place,
        "ages": [age / timedelta(minutes=1) for age in inside],
        "low": [middle.low for middle in inside.values()],
        "high": [middle.high for middle in inside.values()],
        "median": [middle.median for middle in inside.values()],
    }


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def compare_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """The curves, a line for each tweet and age; `measured_at` says how old a count was then. Then
    the tweets of each `band`, at the ages that are known of them."""
    comparison = _read_comparison(request.GET)
    metric = comparison.asked.metric
    columns = [
        Column("tweet_id", "id"),
        Column("author", "text"),
        Column("band", "text"),
        Column("age_minutes", "number"),
        Column("measured_at", "time"),
        Column(metric, "whole"),
    ]
    table = Table(f"compare {metric}", columns, _file_rows(comparison))
    return as_file(request, table, form, lacking=comparison.lacking)


def _file_rows(comparison: Comparison) -> Iterator[tuple[object, ...]]:
    """The tweets, then those of the bands."""
    minute = timedelta(minutes=1)
    authors = dict(
        Tweet.objects.filter(pk__in=comparison.checkpoints).values_list("pk", "author__username")
    )
    for line in comparison.lines:
        author = authors.get(line.born.id) or None
        for _, age, measured_at, counts in line.readings:
            yield line.born.id, author, None, age / minute, measured_at, counts[0]
    for name, born in ((one.name, born) for one in comparison.crowds for born in one.tweets):
        author = authors.get(born.id) or None
        for age, at in comparison.checkpoints[born.id].items():
            yield born.id, author, name, age / minute, None, getattr(at, comparison.asked.metric)


def _read_comparison(query: QueryDict) -> Comparison:
    """A constant number of statements, each of which reads a bounded number of tweets."""
    asked = parse_compare_query(query)
    problems = list(asked.problems)
    now, plan = current()
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(asked.ids)
    comparable = [tweets[id] for id in asked.ids if _is_comparable(id, tweets.get(id), problems)]
    author = Author.objects.filter(pk=asked.author).first() if asked.author else None
    crowds = list(_read_crowds(asked, author, problems))
    born = {tweet.pk: Born(tweet.pk, tweet.created_at) for tweet in comparable if tweet.created_at}
    everybody = {one.id: one for _, some in crowds for one in some} | born
    # No further than the age of the oldest.
    oldest = max((now - one.at for one in everybody.values()), default=timedelta(0))
    until = max(timedelta(minutes=1), min(AGE_RANGES[asked.until], oldest))
    drawn = lines_by_age(born.values(), curve_ages(until), now=now, metrics=(asked.metric,))
    checkpoints = checkpoints_of(everybody)
    lines = [
        TweetCurve(
            place,
            born[tweet.pk],
            _author_name(tweet),
            _excerpt(tweet),
            drawn.readings[tweet.pk],
            {age: getattr(at, asked.metric) for age, at in checkpoints[tweet.pk].items()},
        )
        for place, tweet in enumerate(comparable, 1)
    ]
    bands = [
        crowd(len(lines) + place, name, some, checkpoints, asked.metric)
        for place, (name, some) in enumerate(crowds, 1)
    ]
    if len(lines) == 1 and not bands:
        problems.append(
            "There is nothing to compare this tweet with. Add another tweet, or an author."
        )
    asked = replace(asked, problems=tuple(problems))
    every = _intervals_by(plan, tweets)
    return Comparison(
        asked, author, lines, bands, checkpoints, every, until, now, lacking=drawn.lacking
    )


def _is_comparable(id: int, tweet: Tweet | None, problems: list[str]) -> bool:
    if tweet is None:
        problems.append(f"Tweet {id} is not tracked here. Track it first, then compare it.")
    elif (tweet.created_at is None or not tweet.measurements) and tweet.gone_at:
        problems.append(
            f"Tweet {id} was never measured, and X no longer shows it. Choose another tweet."
        )
    elif tweet.created_at is None or not tweet.measurements:
        problems.append(f"Tweet {id} was not measured yet. Compare it after its first check.")
    else:
        return True
    return False


def _read_crowds(
    asked: CompareQuery, author: Author | None, problems: list[str]
) -> Iterator[tuple[str, list[Born]]]:
    if asked.author is not None:
        tweets = of_author(asked.author, most=MAX_POSTS)
        if author and tweets:
            yield f"the last {len(tweets)} tweets of {author}", tweets
        else:
            problems.append(f"No measured tweet of author {asked.author} is tracked here.")
    if asked.source is not None:
        source = Source.objects.filter(pk=asked.source).first()
        newest = SourceTweet.objects.filter(source=asked.source).order_by("-tweet_id")
        tweets = of_these(list(newest.values_list("tweet_id", flat=True)[:MAX_POSTS]))
        if source and tweets:
            yield f"the last {len(tweets)} tweets of {source}", tweets
        elif source:
            problems.append(f"No tweet of {source} was measured yet.")
        else:
            problems.append(f"There is no source {asked.source}.")


def _intervals_by(plan: Plan, tweets: dict[int, Tweet]) -> IntervalAt:
    """How often the plan checks a tweet of an age."""

    def every(born: Born, age: timedelta) -> timedelta | None:
        return usual_interval(tweets[born.id], plan)(born.at + age)

    return every


def _cells_of(line: TweetCurve, now: datetime) -> list[Cell]:
    return [age_cell(line, age, reached=line.born.at + age <= now) for age in TABLE_AGES]


def _author_name(tweet: Tweet) -> str:
    return str(tweet.author) if tweet.author else "author not known"


def _excerpt(tweet: Tweet) -> str:
    text = getattr(tweet, "tweettext", None)
    if text is None or tweet.gone_at:
        return ""
    words = text.displayed
    return words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 1]}…"
