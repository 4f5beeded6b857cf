"""The page of an author: what came in, what is usual, and how the newest tweets do against it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.daily import daily, first_day
from trackers.dashboards.exports import as_file
from trackers.dashboards.follow_buttons import buttons_for
from trackers.dashboards.parts import Read, show
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.usual import AGES, COMPARED, METRICS, usual
from trackers.dashboards.words import counted
from trackers.ingest.sources.models import Source
from trackers.schedule.intervals import Plan, current
from trackers.tweets.growth.at_ages import at_ages
from trackers.tweets.growth.earlier import of_author
from trackers.tweets.models import Author, Tweet
from trackers.tweets.posted import MOST, posted_by_day, tracked_of
from tweetwatch.tables import Column, Table

NEWEST = 20


@require_safe
@needs(TWEETS)
def author(request: HttpRequest, id: int) -> HttpResponse:
    found = find(id)
    now, plan = current()
    parts: dict[str, Read] = {
        "author": lambda: shown(found, now=now),
        "rows": lambda: newest(found, plan, now=now),
    }
    shared = {"now": now, "author": found}
    return show(
        request,
        "dashboards/authors/page.html",
        parts,
        shared=shared,
        frame=lambda: {"buttons": buttons_for(request.user, author_id=id)},
    )


def find(id: int) -> Author:
    try:
        return Author.objects.get(pk=id)
    except (Author.DoesNotExist, OverflowError):
        raise Http404(f"There is no author {id}.") from None


def shown(author: Author, *, now: datetime) -> dict[str, object]:
    id = author.pk
    today = now.astimezone(UTC).date()
    tracked = tracked_of(id)
    posted = posted_by_day(id, since=first_day(today))
    return {
        "tracked": f"more than {counted(MOST)}" if tracked > MOST else counted(tracked),
        "days": daily(posted, today=today, what="Tracked posts"),
        "is_cut_off": sum(posted.values()) >= MOST,
        "cut_off_at": counted(MOST),
        "usual": usual(of_author(id, most=COMPARED), now=now),
        "sources": Source.objects.filter(kind=Source.Kind.ACCOUNT, account_id=id),
    }


def newest(author: Author, plan: Plan, *, now: datetime) -> dict[str, object]:
    tweets = Tweet.objects.select_related("author", "tweettext").filter(author=author)
    found = list(tweets.newest_first()[:NEWEST])
    return {"labels": LABELS.values(), "rows": rows(found, plan, now=now)}


@require_safe
@needs(TWEETS)
def author_posts(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    now, _ = current()
    return as_file(request, posts(find(id).pk, now=now), form)


def posts(author_id: int, *, now: datetime) -> Table:
    """The newest COMPARED, newest first."""
    columns = [Column("id", "id"), Column("posted_at", "time")]
    for age in AGES.values():
        columns += [
            Column(f"{name}_at_{age.replace(' ', '_')}", "whole") for name in METRICS.values()
        ]
    return Table(f"author-{author_id}-posts", columns, measured_rows(author_id, now=now))


def measured_rows(author_id: int, *, now: datetime) -> Iterator[tuple[Any, ...]]:
    tweets = of_author(author_id, most=COMPARED)
    found = at_ages(tweets, list(AGES), now=now, metrics=tuple(METRICS))
    for one in tweets:
        near = {each.age: each.counts for each in found[one.id] if each.is_near(one.at)}
        counts = [near.get(age, (None,) * len(METRICS)) for age in AGES]
        yield (str(one.id), one.at, *(count for of_age in counts for count in of_age))
