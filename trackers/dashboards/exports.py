"""What a page shows, as a file: CSV, JSONL or Parquet.

A page builds a `Table`, and shows the links with `dashboards/_exports.html`. Few files are sent at
once, those of the API included (`tweetwatch/http/sending.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render

from tweetwatch.http.sending import RETRY_SECONDS, NoPlace, send_in_place
from tweetwatch.tables import FORMS, NO_PARQUET, Table, has_parquet, table_response

_NO_PLACE_TEXT = (
    "The server is sending other files, and sends only a few at once. Go back, wait until one of "
    "them is done, and try again."
)


def as_file(
    request: HttpRequest, table: Table, form: str, *, lacking: str = ""
) -> HttpResponseBase:
    """The table in one of FORMS; 404 for another, and a page with the next step if it cannot be
    written here, or if something is lacking: nobody would see that in a file."""
    if form not in FORMS:
        raise Http404(f"There is no export as {form[:80]!r}. Choose one of {', '.join(FORMS)}.")
    if form == "parquet" and not has_parquet():
        return _no_file(request, 501, "No Parquet on this server", NO_PARQUET)
    if lacking:
        return _no_file(request, 503, "The file would not be complete", lacking)
    return _send_if_free(request, lambda: table_response(table, form))


def _send_if_free(
    request: HttpRequest, make: Callable[[], StreamingHttpResponse]
) -> HttpResponseBase:
    """The file that `make` returns, or a page that says to try again later."""
    try:
        answer = send_in_place(request, make)
    except NoPlace:
        page = _no_file(request, 503, "Other files are being sent", _NO_PLACE_TEXT)
        page["Retry-After"] = str(RETRY_SECONDS)
        return page
    if request.method == "HEAD":
        # The server reads nothing of it, but still closes it, which frees the place.
        answer.streaming_content = ()
    return answer


def _no_file(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    context = {"title": title, "sentence": sentence}
    return render(request, "dashboards/no_export.html", context, status=status)
