"""What a page shows, as a file: CSV, JSONL or Parquet.

A page builds a `Table`, and shows the links with `dashboards/_exports.html`.
"""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from tweetwatch.tables import FORMS, NO_PARQUET, Table, has_parquet, sent


def as_file(request: HttpRequest, table: Table, form: str) -> HttpResponseBase:
    """The table in one of FORMS; 404 for another, and a page with the next step if it cannot be
    written here."""
    if form not in FORMS:
        raise Http404(f"There is no export as {form[:80]!r}. Choose one of {', '.join(FORMS)}.")
    if form == "parquet" and not has_parquet():
        return no_parquet(request)
    return sent(table, form)


def no_parquet(request: HttpRequest) -> HttpResponse:
    shown = {"said": NO_PARQUET}
    return render(request, "dashboards/no_export.html", shown, status=501)
