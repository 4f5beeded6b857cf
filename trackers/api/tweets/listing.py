"""The list of tweets in the API: newest first, by its page's filters, in pages or as a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, Literal

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import Query, Schema

from trackers.api.tweet_bodies import TweetOut, tweets_json
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.filters import Filters
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import require_permission
from trackers.api.wire.parameters import cursor_of, position_of
from trackers.listing.export import tweets_table
from trackers.listing.query import Sort, TweetQuery
from trackers.listing.search import next_ids
from trackers.listing.search_slots import ClientGone, NoFreeSlot, search_slot
from trackers.listing.sorts import Unsorted, ordered_ids
from trackers.tweets.finding.direction import Direction
from tweetwatch.http.refusals import Refused
from tweetwatch.http.sending import send_in_place
from tweetwatch.tables import FORMS, NO_PARQUET, has_parquet, table_response

_MAX_TWEETS_LISTED = 200
_TOO_MANY_SEARCHES = "Too many searches are running. Try again in a second."
Form = Literal["csv", "jsonl", "parquet"]
_TABLE_RESPONSES: dict[str, Any] = {
    "responses": {
        200: {
            "description": "OK",
            "content": {
                form.content_type.partition(";")[0]: {"schema": {"type": "string"}}
                for form in FORMS.values()
            },
        },
        501: {"$ref": "#/components/responses/Problem501"},
    }
}


class TweetsOut(Schema):
    """A page may have fewer than `limit` tweets, or none, and still a `next` one: a search reads a
    limited number of tweets at a time. `note`: what a person should know about the search."""

    tweets: list[TweetOut]
    next: str | None
    note: str


@many.get("", response=TweetsOut)
def list_tweets(
    request: HttpRequest,
    filters: Query[Filters],
    limit: Annotated[int, Query(ge=1, le=_MAX_TWEETS_LISTED)] = 50,
    cursor: str = "",
    sort: Literal["score"] | None = None,
    metric: Literal["views", "likes", "retweets"] = "views",
) -> dict[str, Any]:
    """Newest first, with the filters of the page; or those farthest above what is usual first, as
    the page sorts them: by the `score` of a `metric`."""
    wanted = filters.wanted(require_permission(request, VIEW))
    if sort:
        wanted = replace(wanted, sort=Sort(sort, metric))
    of = f"tweets:{wanted.address()}"
    position = position_of(cursor, of=of)
    if sort:
        return _list_by_score(request, wanted, limit, position or 0, of=of)
    with _search_turn(request, search=wanted.narrowed):
        way = Direction() if position is None else Direction(position)
        result = next_ids(wanted, way, limit + 1, now=timezone.now())
    page_ids = result.ids[:limit]
    on = page_ids[-1] if len(result.ids) > limit else result.until
    return {
        "tweets": tweets_json(page_ids),
        "next": cursor_of(on, of=of) if on is not None else None,
        "note": result.note,
    }


def _list_by_score(
    request: HttpRequest, wanted: TweetQuery, limit: int, first: int, *, of: str
) -> dict[str, Any]:
    """From the tweet in the place `first` on."""
    with _search_turn(request, search=True):
        order = ordered_ids(wanted, most=first + limit + 1, now=timezone.now())
    if isinstance(order, Unsorted):
        raise Refused(422, order.value + ", so they cannot be sorted. Use more filters.")
    return {
        "tweets": tweets_json(order.ids[first : first + limit]),
        "next": cursor_of(first + limit, of=of) if order.ids[first + limit :] else None,
        "note": order.note,
    }


@many.get("/export", openapi_extra=_TABLE_RESPONSES)
def export_list(
    request: HttpRequest, filters: Query[Filters], format: Form = "jsonl"
) -> StreamingHttpResponse:
    """Everything that the list has with these filters, as its page exports it. In CSV, text that
    a spreadsheet would run as a formula begins with an apostrophe."""
    user = require_permission(request, VIEW)
    if format == "parquet" and not has_parquet():
        raise Refused(501, NO_PARQUET)
    wanted = filters.wanted(user)

    def answer() -> StreamingHttpResponse:
        with _search_turn(request, search=wanted.narrowed):
            rows = tweets_table(wanted, now=timezone.now())
        return table_response(rows, format)

    return send_in_place(request, answer)


@contextmanager
def _search_turn(request: HttpRequest, *, search: bool) -> Iterator[None]:
    """A search takes its turn with those of pages: few at once in a process."""
    if not search:
        yield
        return
    try:
        with search_slot(request):
            yield
    except (NoFreeSlot, ClientGone):
        raise Refused(503, _TOO_MANY_SEARCHES) from None
