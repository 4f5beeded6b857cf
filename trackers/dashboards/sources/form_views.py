"""The page on which a person changes a source."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from trackers import history
from trackers.dashboards.access import needs
from trackers.dashboards.sources.figure_views import find
from trackers.ingest.sources import life
from trackers.ingest.sources.forms import SourceForm
from trackers.schedule.intervals import current

CHANGE = "trackers.change_source"
TAKEN = "There is already a source like that."


@require_http_methods(["GET", "HEAD", "POST"])
@needs(CHANGE)
def edit_source(request: HttpRequest, id: int) -> HttpResponse:
    source = find(id)
    name = str(source)
    form = SourceForm(request.POST if request.method == "POST" else None, instance=source)
    if form.is_valid():
        fields = form.changed_data
        try:
            with transaction.atomic():
                given_up = life.change(form.instance, fields)
        except IntegrityError:
            form.add_error("of", TAKEN)
        else:
            if fields:
                what = f"Changed {', '.join(sorted(fields))}, on its page."
                history.record(request.user, [source], what)
                messages.success(request, f"{source}: changed.")
            if given_up:
                messages.warning(request, given_up)
            return redirect("source", id=id)
    now, _ = current()
    page = {"now": now, "form": form, "source": source, "name": name}
    status = 400 if form.errors else 200
    return render(request, "dashboards/sources/edit.html", page, status=status)
