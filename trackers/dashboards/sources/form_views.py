"""The page on which a person changes a source."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from trackers.dashboards.access import needs
from trackers.dashboards.sources.figure_views import find
from trackers.history import on_page
from trackers.ingest.sources.acts import CHANGE, change
from trackers.ingest.sources.forms import SourceForm
from trackers.schedule.intervals import current


@require_http_methods(["GET", "HEAD", "POST"])
@needs(CHANGE)
def edit_source(request: HttpRequest, id: int) -> HttpResponse:
    source = find(id)
    name = str(source)
    form = SourceForm(request.POST if request.method == "POST" else None, instance=source)
    if form.is_valid() and (done := change(form, on_page(request.user))):
        messages.success(request, done.said)
        return redirect("source", id=id)
    now, _ = current()
    page = {"now": now, "form": form, "source": source, "name": name}
    status = 400 if form.errors else 200
    return render(request, "dashboards/sources/edit.html", page, status=status)
