"""Stores an uploaded file in the database, part by part; nothing is imported yet.

file ─> ImportParts ─> Import.uploaded_at: a person looks at it and starts it (`importing`)
Each part is committed by itself: no transaction stays open while a file is being read.
"""

from __future__ import annotations

from typing import BinaryIO, cast

from django.db import transaction
from django.db.models.functions import Now

from trackers.ingest.files.archive import Archive, is_zip
from trackers.ingest.files.cut import Cut, cut
from trackers.ingest.files.cut_archive import cut_archive
from trackers.ingest.files.firstbytes import check_first_bytes, first_bytes
from trackers.ingest.files.limits import NO_LIMITS, Limits, Taken
from trackers.ingest.files.models import Import, ImportPart
from trackers.ingest.files.opening import lines_of
from trackers.ingest.files.parts import pack, parts
from trackers.ingest.files.preview import first_lines, has_tweets, preview
from trackers.ingest.files.recognise import nothing_found
from trackers.ingest.files.rejected import Rejects, store_rejected
from trackers.ingest.files.sheets import ROUNDS, SheetLines, kind_of_sheet
from trackers.ingest.found_tweets import UnreadableError
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source


def upload_file(
    file: BinaryIO,
    *,
    name: str,
    owner: str,
    size: int,
    limits: Limits = NO_LIMITS,
    format: str = "auto",
) -> Import:
    """Store a file that can seek. If it raises UnreadableError, nothing is kept of it."""
    taken = Taken()
    if kind := kind_of_sheet(file):
        note = ROUNDS if kind == "workbook" else ""
        sheet = cast("BinaryIO", SheetLines(file, kind))
        cuts = cut(lines_of(sheet, passed=_nobody_counts, limits=limits, taken=taken))
    elif is_zip(file):
        cuts, note = cut_archive(Archive(file), limits=limits, taken=taken)
    else:
        note = check_first_bytes(first_bytes(file))
        lines = lines_of(file, passed=_nobody_counts, limits=limits, taken=taken)
        cuts = cut(lines, format=format)
    report = _new_import(cuts, name=name, owner=owner, size=size, note=note)
    try:
        _store(report, cuts, taken)
    except BaseException:
        life.remove_sources([report.pk])
        raise
    return report


def _nobody_counts(_taken: int) -> None:
    """For callers that do not track progress."""


def _new_import(cuts: Cut, *, name: str, owner: str, size: int, note: str) -> Import:
    with transaction.atomic():
        source = Source.objects.create(
            kind=Source.Kind.IMPORT, of=name.replace("\0", "")[:1024], owner=owner[:60]
        )
        return Import.objects.create(
            source=source,
            format=cuts.format,
            header=cuts.header,
            column=str(cuts.column or ""),
            bytes=size,
            note=note,
        )


def _store(report: Import, cuts: Cut, taken: Taken) -> None:
    rejects = Rejects()
    count = records = 0
    for lines in parts(cuts.records, rejects):
        with transaction.atomic():
            ImportPart.objects.create(
                source_id=report.pk, first_line=lines[0][0], lines=pack(lines)
            )
            # Shown on its page during the upload.
            Import.objects.filter(pk=report.pk).update(lines=taken.lines, unpacked=taken.bytes)
        count += 1
        records += len(lines)
    if count <= 1 and not has_tweets(report):
        raise UnreadableError(_nothing_in(report, rejects))
    with transaction.atomic():
        store_rejected(report.pk, rejects.first)
        Import.objects.filter(pk=report.pk).update(
            parts=count, read=rejects.count, rejected=rejects.count, uploaded_at=Now(),
            lines=taken.lines, unpacked=taken.bytes, files=cuts.files, records=records,
        )  # fmt: skip


def _nothing_in(report: Import, rejects: Rejects) -> str:
    """Why a file holds no tweet at all, judging by its first rejected line; and what to choose."""
    column = int(report.column) if report.column else 1
    bad = [*rejects.first, *preview(report, column=column, referenced=True).rejected]
    first = min(bad, key=lambda one: one.line, default=None)
    if first is None:
        return "The file contains no tweets."
    why = f"Line {first.line}, {first.text[:40]!r}, {first.why}."
    looks = nothing_found(report.format, first_lines(report), is_uploaded=True)
    return f"The file contains no tweets. {why} {looks}"
