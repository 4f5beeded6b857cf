"""The page of sources: what is watched, trouble first; finished imports; the form that adds one."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import VIEW_SOURCES, needs, require_permission
from trackers.dashboards.notices import notices
from trackers.dashboards.parts import render_parts
from trackers.dashboards.sources.rows import Connection, SourceRow, connection_of, source_row
from trackers.history import on_page
from trackers.ingest.sources import acts
from trackers.ingest.sources.forms import SourceForm
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.status import source_statuses
from trackers.schedule.intervals import current
from trackers.standbys.requests import on_standby

# The page is reloaded every few seconds; the admin has paging and a search.
MAX_SOURCES = 200
# A file is read once: however many were imported, what is watched stays in sight.
_MAX_FILES = 20


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_SOURCES)
@on_standby
def sources(request: HttpRequest) -> HttpResponse:
    """Its part `cost`: what the source in the form would cost as filled in now."""
    form = SourceForm(request.POST) if request.method == "POST" else SourceForm()
    if request.method == "POST" and (done := _add_source(request, form)):
        return done
    now, _ = current()
    return render_parts(
        request,
        "dashboards/sources/list.html",
        {"list": lambda: _list_context(now=now)},
        shared={"now": now},
        frame=lambda: {"form": form},
        alone={"cost": lambda: {"form": SourceForm(request.GET)}},
    )


def _add_source(request: HttpRequest, form: SourceForm) -> HttpResponse | None:
    """None if the form has faults, which it then shows."""
    require_permission(request, acts.ADD)
    if "count" in request.POST:
        if form.is_valid():
            done = acts.count_before(form, on_page(request.user))
            messages.add_message(
                request, messages.SUCCESS if done.is_done else messages.WARNING, done.message
            )
        return None
    if not (form.is_valid() and acts.add(form, on_page(request.user))):
        return None
    messages.success(request, f"Now watching {form.instance}.")
    return redirect("source", id=form.instance.pk)


def _list_context(*, now: datetime) -> dict[str, object]:
    read = Source.objects.exclude(kind=Source.Kind.IMPORT)
    watched = list(read.troubled_first()[: MAX_SOURCES + 1])
    files = list(Source.objects.files()[: _MAX_FILES + 1])
    statuses = source_statuses([*watched[:MAX_SOURCES], *files[:_MAX_FILES]], now=now)
    all_rows = [source_row(status) for status in statuses]
    rows = sorted((row for row in all_rows if not row.is_finished), key=lambda row: row.rank)
    return {
        "rows": rows,
        # The newest first.
        "finished": [row for row in all_rows if row.is_finished],
        "more": MAX_SOURCES if len(watched) > MAX_SOURCES else 0,
        "more_files": _MAX_FILES if len(files) > _MAX_FILES else 0,
        "connection": _stream_card(rows, now=now),
        "notices": notices(now=now, of=("source:poll", "import:part")),
    }


def _stream_card(rows: list[SourceRow], *, now: datetime) -> Connection | None:
    """The stream's card, if there is a rule for it."""
    rules = [row.status for row in rows if row.source.kind == Source.Kind.STREAM]
    return connection_of(rules[0].stream, now=now) if rules else None
