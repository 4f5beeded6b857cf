"""The page of an author: what is usual, and the newest tweets with their scores. What a period
brought is on the page of the author's set."""

from __future__ import annotations

from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.benchmarks import author_benchmarks
from trackers.dashboards.homes import buttons_for
from trackers.dashboards.parts import PartReader, render_parts
from trackers.dashboards.tweet_rows import tweet_rows
from trackers.dashboards.words import commas
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import Plan, current
from trackers.standbys.requests import on_standby
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Author, Tweet
from trackers.tweets.posted import MAX_COUNTED_TWEETS, count_tracked

_TWEETS_SHOWN = 20


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def author(request: HttpRequest, id: int) -> HttpResponse:
    author = _get_author(id)
    now, plan = current()
    parts: dict[str, PartReader] = {
        "author": lambda: _author_context(author),
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


def _author_context(author: Author) -> dict[str, object]:
    id = author.pk
    tracked = count_tracked(id)
    return {
        "tracked": f"more than {commas(MAX_COUNTED_TWEETS)}"
        if tracked > MAX_COUNTED_TWEETS
        else commas(tracked),
        "author_id": str(id),
        "benchmarks": author_benchmarks(id),
        "sources": Source.objects.filter(kind=Source.Kind.ACCOUNT, account_id=id),
    }


def _newest_rows(author: Author, plan: Plan, *, now: datetime) -> dict[str, object]:
    tweets = Tweet.objects.select_related("author", "tweettext").filter(author=author)
    newest = list(tweets.newest_first()[:_TWEETS_SHOWN])
    return {"labels": LABELS.values(), "rows": tweet_rows(newest, plan, now=now)}
