"""All that is kept of tweets and their samples as files, in the API: CSV or JSON lines, sent while
they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router
from pydantic import StringConstraints

from trackers.api.wire.auth import VIEW_TWEETS, require_permission
from trackers.api.wire.fields import MAX_IDS_IN_ADDRESS, ids_of
from trackers.listing.export import export_tweets
from trackers.standbys.reading import read_for_export
from trackers.tweets.checkpoints.export import export_checkpoints
from trackers.tweets.export import Format, export_samples
from tweetwatch.http.sending import send_in_place
from tweetwatch.tables import FORMS, file_headers

router = Router(tags=["exports"])
ExportedIds = Annotated[str, StringConstraints(max_length=8_000)]
_FILE_RESPONSES: dict[str, Any] = {
    "responses": {
        200: {
            "description": "OK",
            "content": {
                "text/csv": {"schema": {"type": "string"}},
                "application/x-ndjson": {"schema": {"type": "string"}},
            },
        }
    }
}


@router.get("/tweets", openapi_extra=_FILE_RESPONSES)
def export_of_tweets(
    request: HttpRequest, format: Format = "jsonl", ids: ExportedIds = ""
) -> StreamingHttpResponse:
    """Tweets with their newest metrics: those of `ids`, up to 300, comma-separated, or all. In
    CSV, text that a spreadsheet would run as a formula begins with an apostrophe."""
    return _export_response(request, "tweets", export_tweets, ids, format)


@router.get("/samples", openapi_extra=_FILE_RESPONSES)
def export_of_samples(
    request: HttpRequest, format: Format = "jsonl", ids: ExportedIds = ""
) -> StreamingHttpResponse:
    """Every measurement, archived ones too: of the tweets of `ids`, by tweet and time, or of all,
    unordered. 503 if the archive cannot be read; if that happens later, the file breaks off."""
    return _export_response(request, "samples", export_samples, ids, format)


@router.get("/checkpoints", openapi_extra=_FILE_RESPONSES)
def export_of_checkpoints(
    request: HttpRequest, format: Format = "jsonl", ids: ExportedIds = ""
) -> StreamingHttpResponse:
    """What tweets had at each of eighteen ages, from 5 minutes to 30 days, where they were measured
    around it: of the tweets of `ids`, or of all; by tweet and age."""
    return _export_response(request, "checkpoints", export_checkpoints, ids, format)


def _export_response(
    request: HttpRequest, what: str, export: Callable[..., Iterator[bytes]], ids: str, form: Format
) -> StreamingHttpResponse:
    require_permission(request, VIEW_TWEETS)
    chosen = ids_of(ids) if ids else []
    if len(chosen) > MAX_IDS_IN_ADDRESS:
        raise ValueError(f"ids: up to {MAX_IDS_IN_ADDRESS} tweets.")

    def answer() -> StreamingHttpResponse:
        return StreamingHttpResponse(
            read_for_export(export(chosen, format=form)),
            content_type=FORMS[form].content_type,
            headers=file_headers(what, form),
        )

    return send_in_place(request, answer)
