"""The page of sources: what is watched, trouble first; finished imports; the form that adds one."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import SOURCES, demand, needs
from trackers.dashboards.notices import notices
from trackers.dashboards.parts import show
from trackers.dashboards.sources.connection import Connection, connection_of
from trackers.dashboards.sources.line import Line, lines
from trackers.history import on_page
from trackers.ingest.sources import acts
from trackers.ingest.sources.forms import SourceForm
from trackers.ingest.sources.models import Source, Stream
from trackers.ingest.sources.standing import standings
from trackers.schedule.intervals import current

# The page is reloaded every few seconds; the admin has paging and a search.
MOST = 200
# A file is read once: however many were imported, what is watched stays in sight.
FILES_MOST = 20


@require_http_methods(["GET", "HEAD", "POST"])
@needs(SOURCES)
def sources(request: HttpRequest) -> HttpResponse:
    """Its part `cost`: what the source in the form would cost as filled in now."""
    form = SourceForm(request.POST) if request.method == "POST" else SourceForm()
    if request.method == "POST" and (done := add(request, form)):
        return done
    now, _ = current()
    return show(
        request,
        "dashboards/sources/list.html",
        {"list": lambda: listed(now=now)},
        shared={"now": now},
        frame=lambda: {"form": form},
        alone={"cost": lambda: {"form": SourceForm(request.GET)}},
    )


def add(request: HttpRequest, form: SourceForm) -> HttpResponse | None:
    """None if the form has faults, which it then shows."""
    demand(request, acts.ADD)
    if not (form.is_valid() and acts.add(form, on_page(request.user))):
        return None
    messages.success(request, f"Now watching {form.instance}.")
    return redirect("source", id=form.instance.pk)


def listed(*, now: datetime) -> dict[str, object]:
    read = Source.objects.exclude(kind=Source.Kind.IMPORT)
    watched = list(read.troubled_first()[: MOST + 1])
    files = list(Source.objects.files()[: FILES_MOST + 1])
    found = standings([*watched[:MOST], *files[:FILES_MOST]], now=now)
    all_rows = lines(found, now=now)
    rows = sorted((one for one in all_rows if not one.is_finished), key=lambda one: one.rank)
    return {
        "rows": rows,
        # The newest first.
        "finished": [one for one in all_rows if one.is_finished],
        "more": MOST if len(watched) > MOST else 0,
        "more_files": FILES_MOST if len(files) > FILES_MOST else 0,
        "connection": connection(rows, now=now),
        "notices": notices(now=now, of=("source:poll", "import:part")),
    }


def connection(rows: list[Line], *, now: datetime) -> Connection | None:
    """The stream's card, if there is a rule for it."""
    if not any(row.kind == Source.Kind.STREAM for row in rows):
        return None
    return connection_of(Stream.objects.first(), now=now)
