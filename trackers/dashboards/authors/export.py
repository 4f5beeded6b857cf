"""The author's posts as a file: what each had at the ages that the page compares."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.authors.views import find
from trackers.dashboards.exports import as_file
from trackers.dashboards.usual import AGES, COMPARED, METRICS
from trackers.schedule.intervals import current
from trackers.tweets.growth.at_ages import at_ages
from trackers.tweets.growth.earlier import of_author
from tweetwatch.tables import Column, Table


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
    return Table(f"author-{author_id}-posts", columns, rows(author_id, now=now))


def rows(author_id: int, *, now: datetime) -> Iterator[tuple[Any, ...]]:
    tweets = of_author(author_id, most=COMPARED)
    found = at_ages(tweets, list(AGES), now=now, metrics=tuple(METRICS))
    for one in tweets:
        near = {each.age: each.counts for each in found[one.id] if each.is_near(one.at)}
        counts = [near.get(age, (None,) * len(METRICS)) for age in AGES]
        yield (str(one.id), one.at, *(count for of_age in counts for count in of_age))
