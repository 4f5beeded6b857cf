"""The list of tweets in the API: newest first, by its page's filters, in pages or as a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import Query, Schema

from trackers.api.shown import TweetOut, tweets
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.filters import Filters
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import may
from trackers.api.wire.cursors import cursor_of, position_of
from trackers.listing.lines import table
from trackers.listing.patience import Busy, GivenUp, turn
from trackers.listing.search import some
from trackers.tweets.finding.way import Way
from tweetwatch.http.refusals import Refused
from tweetwatch.http.sending import in_a_place
from tweetwatch.tables import FORMS, NO_PARQUET, has_parquet, sent

MOST = 200
BUSY = "Too many searches are running. Try again in a second."
Form = Literal["csv", "jsonl", "parquet"]
GIVES_TABLES: dict[str, Any] = {
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
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    cursor: str = "",
) -> dict[str, Any]:
    """Newest first, with the filters of the page."""
    may(request, VIEW)
    wanted = filters.wanted()
    of = f"tweets:{wanted.address()}"
    position = position_of(cursor, of=of)
    with patiently(request, search=wanted.narrowed):
        way = Way() if position is None else Way(position)
        found = some(wanted, way, limit + 1, now=timezone.now())
    shown = found.ids[:limit]
    on = shown[-1] if len(found.ids) > limit else found.until
    return {
        "tweets": tweets(shown),
        "next": cursor_of(on, of=of) if on is not None else None,
        "note": found.note,
    }


@many.get("/export", openapi_extra=GIVES_TABLES)
def export_list(
    request: HttpRequest, filters: Query[Filters], format: Form = "jsonl"
) -> StreamingHttpResponse:
    """Everything that the list has with these filters, as its page exports it. In CSV, text that
    a spreadsheet would run as a formula begins with an apostrophe."""
    may(request, VIEW)
    if format == "parquet" and not has_parquet():
        raise Refused(501, NO_PARQUET)
    wanted = filters.wanted()

    def answer() -> StreamingHttpResponse:
        with patiently(request, search=wanted.narrowed):
            rows = table(wanted, now=timezone.now())
        return sent(rows, format)

    return in_a_place(request, answer)


@contextmanager
def patiently(request: HttpRequest, *, search: bool) -> Iterator[None]:
    """A search takes its turn with those of pages: few at once in a process."""
    if not search:
        yield
        return
    try:
        with turn(request):
            yield
    except (Busy, GivenUp):
        raise Refused(503, BUSY) from None
