"""Pages of imports: a file is uploaded, looked at, started, and its report followed to the end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any, BinaryIO, cast

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_safe

from trackers.acts import Done
from trackers.dashboards.access import VIEW_SOURCES, needs, require_permission
from trackers.dashboards.exports import as_file
from trackers.dashboards.imports.report import (
    MAX_BAD_LINES,
    ImportPreview,
    bad_lines,
    import_preview,
    import_progress,
    line_place,
)
from trackers.dashboards.page_acts import confirmation_page, form_page, show_message
from trackers.dashboards.parts import render_parts
from trackers.history import Actor, on_page
from trackers.ingest.files import acts
from trackers.ingest.files.cost import cost_of_lookups
from trackers.ingest.files.limits import Limits, size
from trackers.ingest.files.models import Import
from trackers.ingest.files.preview import columns, doubt_of, tweets_to_look_up
from trackers.ingest.files.recognise import FORMATS
from trackers.ingest.found_tweets import Options, UnreadableError
from trackers.ingest.sources.acts import ADD
from trackers.schedule.intervals import current
from tweetwatch.http.bodies import receiving_file, takes_files
from tweetwatch.tables import Column, Table


class FileForm(forms.Form):
    file = forms.FileField(
        label="File",
        max_length=1000,
        error_messages={"empty": "The file is empty.", "required": "Choose a file."},
    )
    format = forms.ChoiceField(
        choices=[("auto", "recognise it by itself"), *FORMATS.items()], required=False
    )


# The CSRF token is in the body, and reading that stores the file: so it is checked only after the
# permission, and once the upload handler is set.
@takes_files
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@needs(ADD)
def import_file(request: HttpRequest) -> HttpResponse:
    request.upload_handlers = [UnnamedUpload(request)]
    with receiving_file(request, most=settings.IMPORT_MOST_BYTES):
        return upload_page(request)


@csrf_protect
def upload_page(request: HttpRequest) -> HttpResponse:
    form = FileForm(request.POST, request.FILES) if request.method == "POST" else FileForm()
    if form.is_valid():
        try:
            report = _store_upload(
                form.cleaned_data["file"],
                on_page(request.user),
                format=form.cleaned_data["format"] or "auto",
            )
        except UnreadableError as fault:
            form.add_error("file", str(fault))
        else:
            return redirect("import-report", id=report.pk)
    most = {"most_lines": f"{_import_limits().lines:,}", "most_bytes": size(_import_limits().bytes)}
    return form_page(request, "dashboards/imports/file.html", form, **most)


def _store_upload(file: UploadedFile, actor: Actor, *, format: str) -> Import:
    assert file.file is not None
    return acts.store(
        cast("BinaryIO", file.file),
        actor,
        name=file.name or "file",
        size=file.size or 0,
        limits=_import_limits(),
        format=format,
    )


def _import_limits() -> Limits:
    return Limits(settings.IMPORT_MOST_BYTES, settings.IMPORT_MOST_LINES)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_SOURCES)
def import_report(request: HttpRequest, id: int) -> HttpResponse:
    """Its part `choice`: what the column and options in the form would give."""
    report = _get_import(id)
    if request.method == "POST":
        return _act_on_import(request, report)
    now, _ = current()
    return render_parts(
        request,
        "dashboards/imports/report.html",
        {"report": lambda: _import_context(report, request.GET, now=now)},
        shared={"now": now, "report": report, "source": report.source},
        alone={"choice": lambda: {"choice": _preview_of(report, request.GET)}},
    )


@require_safe
@needs(VIEW_SOURCES)
def import_rejected(request: HttpRequest, id: int) -> HttpResponseBase:
    """The rejected lines that are kept."""
    report = _get_import(id)
    return as_file(request, _lines_table(report, "rejected", tracked=False), "csv")


@require_safe
@needs(VIEW_SOURCES)
def import_warnings(request: HttpRequest, id: int) -> HttpResponseBase:
    """The warnings that are kept."""
    report = _get_import(id)
    return as_file(request, _lines_table(report, "warnings", tracked=True), "csv")


def _lines_table(report: Import, name: str, *, tracked: bool) -> Table:
    """With the file of each line where there are several."""
    names = [*(["file"] if report.files else []), "line", "text", "why"]
    columns = [Column(name, "whole" if name == "line" else "text") for name in names]
    return Table(f"{name}-{report.pk}", columns, _line_rows(report, tracked=tracked))


def _line_rows(report: Import, *, tracked: bool) -> Iterator[tuple[object, ...]]:
    for bad_line in report.source.rejected_lines.filter(tracked=tracked):
        name, line = line_place(report, bad_line.line)
        yield (*([name] if report.files else []), line, bad_line.text, bad_line.why)


def _act_on_import(request: HttpRequest, report: Import) -> HttpResponse:
    require_permission(request, ADD)
    actor, name = on_page(request.user), request.POST.get("act")
    match name:
        case "start":
            if page := _ask_before(request, report):
                return page
            done = acts.start(
                report,
                actor,
                column=_chosen_column(report, request.POST),
                referenced="referenced" in request.POST,
                paused="paused" in request.POST,
                chosen=_chosen_options(report, request.POST),
            )
        case "again":
            done = acts.try_again(report, actor)
        case "forget":
            done = acts.discard(report, actor)
        case _:
            done = Done("This is not possible. Reload the page.", is_done=False)
    show_message(request, done)
    if name == "forget" and done.is_done:
        return redirect("import-file")
    return redirect("import-report", id=report.pk)


def _ask_before(request: HttpRequest, report: Import) -> HttpResponse | None:
    """The page that asks whether to start an import of what are probably no tweets, or that costs
    more than today's budget; None if neither is so, or a person has said yes."""
    column, referenced = _chosen_column(report, request.POST), "referenced" in request.POST
    doubt = doubt_of(report, column=column, referenced=referenced)
    questions = [f"{doubt}."] if doubt else []
    if "paused" not in request.POST:
        chosen = _chosen_options(report, request.POST)
        tweets = tweets_to_look_up(report, column=column, referenced=referenced, chosen=chosen)
        cost = cost_of_lookups(tweets)
        questions += [str(cost)] if cost.is_over else []
    if not questions:
        return None
    back = reverse("import-report", args=[report.pk])
    return confirmation_page(request, " ".join(questions), button="Import them anyway", back=back)


def _get_import(id: int) -> Import:
    try:
        return Import.objects.select_related("source").get(pk=id)
    except (Import.DoesNotExist, OverflowError):
        raise Http404(f"There is no import {id}.") from None


def _chosen_column(report: Import, form: QueryDict) -> int | None:
    """The column that a person chose, else the guessed one; counted from 1."""
    text = form.get("column", report.column)
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0
    return number if 0 < number <= len(columns(report)) else None


def _chosen_options(report: Import, form: QueryDict) -> Options:
    """What dates the counts, and whether what looks like accounts is taken. A table's column that
    is not there is none."""
    measured_at = form.get("measured_at", "").replace("\0", "").strip()[:200]
    if report.format == "csv" and measured_at not in map(str, range(1, len(columns(report)) + 1)):
        measured_at = ""
    return Options(measured_at=measured_at or None, anyway="anyway" in form)


def _import_context(report: Import, form: QueryDict, *, now: datetime) -> dict[str, object]:
    return {
        "progress": import_progress(report, _import_limits(), now=now),
        "choice": _preview_of(report, form),
        "rejected": bad_lines(report, tracked=False),
        "rejected_more": report.rejected > MAX_BAD_LINES,
        "warnings": bad_lines(report, tracked=True),
        "warnings_more": report.warnings > MAX_BAD_LINES,
    }


def _preview_of(report: Import, form: QueryDict) -> ImportPreview | None:
    """None once it was started, and before all of it is there."""
    if report.began_at is not None or report.uploaded_at is None:
        return None
    return import_preview(
        report,
        column=_chosen_column(report, form),
        referenced="referenced" in form,
        chosen=_chosen_options(report, form),
    )


class UnnamedUpload(FileUploadHandler):
    chunk_size = 1 << 18

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        # Open as long as the request holds it.
        self.file: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115
            dir=settings.FILE_UPLOAD_TEMP_DIR
        )

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self.file.seek(0)
        return UploadedFile(self.file, self.file_name, self.content_type, file_size)

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
