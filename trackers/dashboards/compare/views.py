"""The page that compares tweets by age. All that it shows is in its address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.compare.aligned import (
    TABLE_AGES,
    Cell,
    Crowd,
    Every,
    Line,
    all_ages,
    cell,
    crowd,
    curve_ages,
    median_cell,
    middle_cell,
    told,
    values,
)
from trackers.dashboards.compare.asked import TWEETS_MOST, UNTIL, Asked, asked_of
from trackers.dashboards.exports import as_file
from trackers.dashboards.tweet_rows import LABELS, usual
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.schedule.intervals import Plan, current
from trackers.tweets.growth.at_ages import Born, Reading, at_ages
from trackers.tweets.growth.earlier import of_author, of_these
from trackers.tweets.models import Author, Tweet
from tweetwatch.tables import Column, Table

CROWD_MOST = 20
EXCERPT = 60


@dataclass(frozen=True, slots=True)
class Compared:
    asked: Asked
    lines: list[Line]
    crowds: list[Crowd]
    readings: dict[int, list[Reading]]
    every: Every
    until: timedelta
    now: datetime

    @property
    def is_enough(self) -> bool:
        return bool(self.crowds) or len(self.lines) > 1


@require_safe
@needs(TWEETS)
def compare(request: HttpRequest) -> HttpResponse:
    found = compared(request)
    asked, label = found.asked, LABELS[found.asked.metric]
    cells = [cells_of(line, found.now) for line in found.lines]
    context = {
        "now": found.now,
        "asked": asked,
        "found": found,
        "label": label,
        "labels": {name: (words, asked.address(metric=name)) for name, words in LABELS.items()},
        "ranges": {name: asked.address(until=name) for name in UNTIL},
        "ages": list(TABLE_AGES.values()),
        "lines": [
            (line, row, asked.without(line.born.id))
            for line, row in zip(found.lines, cells, strict=True)
        ],
        "crowds": [
            (
                one,
                [middle_cell(one.middles.get(age)) for age in TABLE_AGES],
                [median_cell(one.middles.get(age)) for age in TABLE_AGES],
            )
            for one in found.crowds
        ],
        "told": told(found.lines, cells, found.crowds, label.lower()),
        "author": Author.objects.filter(pk=asked.author).first() if asked.author else None,
        "is_full": len(asked.ids) >= TWEETS_MOST,
        "most": TWEETS_MOST,
        "without_author": asked.address(author=None),
        "without_source": asked.address(source=None),
    }
    return render(request, "dashboards/compare/page.html", context)


@require_safe
@needs(TWEETS)
def compare_series(request: HttpRequest) -> JsonResponse:
    """`ages` are minutes since the posting; each tweet has as many values, null in gaps."""
    found = compared(request)
    xs = curve_ages(found.until)
    return JsonResponse(
        {
            "metric": found.asked.metric,
            "ages": [age / timedelta(minutes=1) for age in xs],
            "tweets": [
                {
                    "tweet_id": str(line.born.id),
                    "place": line.place,
                    "values": values(line, xs, found.every),
                }
                for line in found.lines
            ],
            "bands": [band_of(one, until=found.until, xs=xs) for one in found.crowds],
        },
        headers={"Cache-Control": "no-store"},
    )


def band_of(one: Crowd, *, until: timedelta, xs: list[timedelta]) -> dict[str, object]:
    inside = {age: middle for age, middle in one.middles.items() if age <= until}
    return {
        "place": one.place,
        "ages": [age / timedelta(minutes=1) for age in inside],
        "low": [middle.low for middle in inside.values()],
        "high": [middle.high for middle in inside.values()],
        "median": [inside[age].median if age in inside else None for age in xs],
    }


@require_safe
@needs(TWEETS)
def compare_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """The curves, a line for each tweet and age; `measured_at` says how old a count was then."""
    found = compared(request)
    columns = [
        Column("tweet_id", "id"),
        Column("author", "text"),
        Column("age_minutes", "number"),
        Column("measured_at", "time"),
        Column(found.asked.metric, "whole"),
    ]
    return as_file(request, Table("compare", columns, rows_of(found)), form)


def rows_of(found: Compared) -> Iterator[tuple[object, ...]]:
    """The tweets, then those of the bands."""
    named = [(line.born, line.name, line.readings) for line in found.lines]
    named += [
        (born, one.name, found.readings[born.id]) for one in found.crowds for born in one.tweets
    ]
    for born, name, readings in named:
        for reading in readings:
            minutes = reading.age / timedelta(minutes=1)
            yield born.id, name, minutes, reading.measured_at, reading.counts[0]


def compared(request: HttpRequest) -> Compared:
    """A constant number of statements, each of which reads a bounded number of tweets."""
    asked = asked_of(request.GET)
    problems = list(asked.problems)
    now, plan = current()
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(asked.ids)
    shown = [tweets[id] for id in asked.ids if is_comparable(id, tweets.get(id), problems)]
    crowds = list(crowds_of(asked, problems))
    born = {tweet.pk: Born(tweet.pk, tweet.created_at) for tweet in shown if tweet.created_at}
    everybody = {one.id: one for _, some in crowds for one in some} | born
    # No further than the age of the oldest.
    oldest = max((now - one.at for one in everybody.values()), default=timedelta(0))
    until = max(timedelta(minutes=1), min(UNTIL[asked.until], oldest))
    wanted = all_ages(until)
    readings = at_ages(everybody.values(), wanted, now=now, metrics=(asked.metric,))
    lines = [
        Line(place, born[tweet.pk], name_of(tweet), excerpt(tweet), readings[tweet.pk])
        for place, tweet in enumerate(shown, 1)
    ]
    bands = [
        crowd(len(lines) + place, name, some, readings)
        for place, (name, some) in enumerate(crowds, 1)
    ]
    if len(lines) == 1 and not bands:
        problems.append(
            "There is nothing to compare this tweet with. Add another tweet, or an author."
        )
    asked = replace(asked, problems=tuple(problems))
    return Compared(asked, lines, bands, readings, every_by(plan, tweets), until, now)


def is_comparable(id: int, tweet: Tweet | None, problems: list[str]) -> bool:
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


def crowds_of(asked: Asked, problems: list[str]) -> Iterator[tuple[str, list[Born]]]:
    if asked.author is not None:
        author = Author.objects.filter(pk=asked.author).first()
        found = of_author(asked.author, most=CROWD_MOST)
        if author and found:
            yield f"the last {len(found)} tweets of {author}", found
        else:
            problems.append(f"No measured tweet of author {asked.author} is tracked here.")
    if asked.source is not None:
        source = Source.objects.filter(pk=asked.source).first()
        newest = SourceTweet.objects.filter(source=asked.source).order_by("-tweet_id")
        found = of_these(list(newest.values_list("tweet_id", flat=True)[:CROWD_MOST]))
        if source and found:
            yield f"the last {len(found)} tweets of {source}", found
        elif source:
            problems.append(f"No tweet of {source} was measured yet.")
        else:
            problems.append(f"There is no source {asked.source}.")


def every_by(plan: Plan, tweets: dict[int, Tweet]) -> Every:
    """How often the plan checks a tweet of an age."""

    def every(born: Born, age: timedelta) -> timedelta | None:
        return usual(tweets[born.id], plan)(born.at + age)

    return every


def cells_of(line: Line, now: datetime) -> list[Cell]:
    return [cell(line, age, reached=line.born.at + age <= now) for age in TABLE_AGES]


def name_of(tweet: Tweet) -> str:
    return str(tweet.author) if tweet.author else "author not known"


def excerpt(tweet: Tweet) -> str:
    text = getattr(tweet, "tweettext", None)
    if text is None or tweet.gone_at:
        return ""
    return text.text if len(text.text) <= EXCERPT else f"{text.text[: EXCERPT - 1]}…"
