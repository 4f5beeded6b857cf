"""The list of tweets in the API: newest first, by words, state, source and author, in pages."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import StringConstraints

from trackers.api.shown import TweetOut, tweets
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import may
from trackers.api.wire.cursors import cursor_of, position_of
from trackers.api.wire.fields import Known
from trackers.ingest.sources.models import SourceTweet
from trackers.tweets.finding.finder import SEARCH_TAKES, Finder, Finds
from trackers.tweets.finding.way import Look, Way
from trackers.tweets.models import Tweet
from trackers.updater import states
from tweetwatch.bounded import bounded

MOST = 200
State = Literal[
    "fresh", "resting", "paused", "no_money", "missing", "not_found", "unclear", "gone", "isolated"
]
Words = Annotated[str, StringConstraints(max_length=200, pattern="^[^\\x00]*$")]


class TweetsOut(Schema):
    """A page may have fewer than `limit`, or none, and still a `next` one: a search looks through
    so many tweets at a time. `note`: what a person should know of the search."""

    tweets: list[TweetOut]
    next: str | None
    note: str


@many.get("", response=TweetsOut)
def list_tweets(
    request: HttpRequest,
    q: Words = "",
    state: State | None = None,
    source: Known | None = None,
    author: Known | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    cursor: str = "",
) -> dict[str, Any]:
    """The newest first. `q`: words, an id or address, or @name, as on the page; `source` brought
    them; `author` is an account's id."""
    may(request, VIEW)
    of = f"tweets:{q}:{state}:{source}:{author}"
    position = position_of(cursor, of=of)
    way = Way() if position is None else Way(position)
    found = find(q.strip(), state, source, author, way, limit)
    shown = found.ids[:limit]
    on = shown[-1] if len(found.ids) > limit else found.until
    return {
        "tweets": tweets(shown),
        "next": cursor_of(on, of=of) if on is not None else None,
        "note": found.note,
    }


def find(
    words: str, state: str | None, source: int | None, author: int | None, way: Way, limit: int
) -> Finds:
    """One more than the limit, if there are more."""
    if not (words or state or source or author):
        rows = Tweet.objects.filter(pk__lt=way.beyond).order_by("-pk")
        return Finds(list(rows.values_list("pk", flat=True)[: limit + 1]))
    few = candidates(state, source, author)
    with bounded(SEARCH_TAKES) as deadline:
        finder = Finder(
            deadline,
            limit + 1,
            partial(kept, state, source, author),
            few if source or author or state in states.FEW else None,
            states.first_resting if state == "resting" else lambda way: way,
        )
        if words:
            return finder.find(words, way)
        return finder.by_candidates(few, way)


def candidates(state: str | None, source: int | None, author: int | None) -> Any:
    """The fewest that may be meant, by an index that has them in order."""
    if source:
        return partial(of_source, source)
    if author:
        return partial(of_author, author)
    return partial(states.candidates, state or "")


def kept(state: str | None, source: int | None, author: int | None, ids: list[int]) -> list[int]:
    rows: QuerySet[Tweet] = Tweet.objects.filter(pk__in=ids)
    if state:
        rows = states.in_state(rows, state)
    if author:
        rows = rows.filter(author=author)
    found = set(rows.values_list("pk", flat=True))
    if source:
        theirs = SourceTweet.objects.filter(source=source, tweet_id__in=ids)
        found &= set(theirs.values_list("tweet_id", flat=True))
    return [id for id in ids if id in found]


def of_source(source: int, way: Way, most: int) -> Look:
    rows = SourceTweet.objects.filter(source=source, tweet_id__lt=way.beyond).order_by("-tweet_id")
    return looked(list(rows.values_list("tweet_id", flat=True)[:most]), most)


def of_author(author: int, way: Way, most: int) -> Look:
    rows = Tweet.objects.filter(author=author, pk__lt=way.beyond).order_by("author", "-pk")
    return looked(list(rows.values_list("pk", flat=True)[:most]), most)


def looked(ids: list[int], most: int) -> Look:
    return Look(ids, until=ids[-1] if len(ids) == most else None)
