"""The page of an author: what is usual, and how the newest tweets do against it. What a period
brought is on the page of the author's set."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.benchmarks import (
    BENCHMARK_AGES,
    BENCHMARK_METRICS,
    MAX_COMPARED,
    read_benchmarks,
)
from trackers.dashboards.exports import as_file
from trackers.dashboards.homes import buttons_for
from trackers.dashboards.parts import PartReader, render_parts
from trackers.dashboards.tweet_rows import LABELS, tweet_rows
from trackers.dashboards.words import commas
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import Plan, current
from trackers.tweets.growth.at_ages import at_ages
from trackers.tweets.growth.earlier import of_author
from trackers.tweets.models import Author, Tweet
from trackers.tweets.posted import MAX_COUNTED_TWEETS, count_tracked
from tweetwatch.tables import Column, Table

_TWEETS_SHOWN = 20


@require_safe
@needs(VIEW_TWEETS)
def author(request: HttpRequest, id: int) -> HttpResponse:
    author = _get_author(id)
    now, plan = current()
    parts: dict[str, PartReader] = {
        "author": lambda: _author_context(author, now=now),
        "rows": lambda: _newest_rows(author, plan, now=now),
    }
    shared = {"now": now, "author": author}
    return render_parts(
        request,
        "dashboards/authors/page.html",
        parts,
        shared=shared,
        frame=lambda: {"buttons": buttons_for(request.user, author_id=id)},
    )


def _get_author(id: int) -> Author:
    try:
        return Author.objects.get(pk=id)
    except (Author.DoesNotExist, OverflowError):
        raise Http404(f"There is no author {id}.") from None


def _author_context(author: Author, *, now: datetime) -> dict[str, object]:
    id = author.pk
    tracked = count_tracked(id)
    return {
        "tracked": f"more than {commas(MAX_COUNTED_TWEETS)}"
        if tracked > MAX_COUNTED_TWEETS
        else commas(tracked),
        "benchmarks": read_benchmarks(of_author(id, most=MAX_COMPARED), now=now),
        "sources": Source.objects.filter(kind=Source.Kind.ACCOUNT, account_id=id),
    }


def _newest_rows(author: Author, plan: Plan, *, now: datetime) -> dict[str, object]:
    tweets = Tweet.objects.select_related("author", "tweettext").filter(author=author)
    newest = list(tweets.newest_first()[:_TWEETS_SHOWN])
    return {"labels": LABELS.values(), "rows": tweet_rows(newest, plan, now=now)}


@require_safe
@needs(VIEW_TWEETS)
def author_posts(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    now, _ = current()
    return as_file(request, _posts_table(_get_author(id).pk, now=now), form)


def _posts_table(author_id: int, *, now: datetime) -> Table:
    """The newest COMPARED, newest first."""
    columns = [Column("tweet_id", "id"), Column("created_at", "time")]
    for age in BENCHMARK_AGES.values():
        columns += [
            Column(f"{metric}_at_{age.replace(' ', '_')}", "whole") for metric in BENCHMARK_METRICS
        ]
    return Table(f"author-{author_id}-posts", columns, _measured_rows(author_id, now=now))


def _measured_rows(author_id: int, *, now: datetime) -> Iterator[tuple[Any, ...]]:
    tweets = of_author(author_id, most=MAX_COMPARED)
    readings = at_ages(tweets, list(BENCHMARK_AGES), now=now, metrics=BENCHMARK_METRICS)
    for tweet in tweets:
        near = {each.age: each.counts for each in readings[tweet.id] if each.is_near(tweet.at)}
        counts = [near.get(age, (None,) * len(BENCHMARK_METRICS)) for age in BENCHMARK_AGES]
        yield (tweet.id, tweet.at, *(count for of_age in counts for count in of_age))
