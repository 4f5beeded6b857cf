"""A manifest a month: which files count, and what is in them. The database's index in writing, for
others who read the archive, and for an installation that goes on with it."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import orjson
from django.db.models import F

from trackers.tweets.archive.layout import SCHEMA_VERSION, FileKind, manifest_path
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth, CompanionFile, StoredFile
from trackers.tweets.archive.store import Store


def write_due_manifests(store: Store, installation: UUID) -> None:
    """Those of months whose files changed; a process that died in between left some."""
    due = ArchiveMonth.objects.filter(manifest_is_due=True).order_by("month")
    for month in due.values_list("month", flat=True):
        with store.writing(manifest_path(month)) as file:
            file.write(manifest_text(month, installation))
        ArchiveMonth.objects.filter(month=month).update(manifest_is_due=False)


def manifest_text(month: date, installation: UUID) -> bytes:
    row = ArchiveMonth.objects.get(month=month)
    samples = _entries(ArchiveFile, FileKind.SAMPLES, month)
    manifest = {
        "schema": SCHEMA_VERSION,
        "installation": str(installation),
        "month": f"{month:%Y-%m}",
        # How many were begun by now: of these, what is not listed was replaced, or never counted.
        "parts": row.parts,
        "samples": sum(file["samples"] for file in samples),
        "bytes": sum(file["bytes"] for file in samples),
        "files": samples,
        "facts": _entries(CompanionFile, FileKind.FACTS, month),
        "checkpoints": _entries(CompanionFile, FileKind.CHECKPOINTS, month),
        "facts_up_to": str(row.facts_up_to),
        "checkpoints_up_to": str(row.checkpoints_up_to),
    }
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2)


def _entries(
    index: type[ArchiveFile] | type[CompanionFile], kind: FileKind, month: date
) -> list[dict[str, Any]]:
    files = index.objects.filter(
        month=month, state=StoredFile.State.WRITTEN, path__startswith=f"{kind}/"
    )
    return [_file_entry(file, kind) for file in files.order_by(F("ids").asc(), "path")]


def _file_entry(file: StoredFile, kind: FileKind) -> dict[str, Any]:
    """Ids are text, since JSON readers round numbers of this size."""
    entry = {
        "path": file.path,
        "bytes": file.bytes,
        "sha256": file.sha256,
        ("samples" if kind is FileKind.SAMPLES else "rows"): file.samples,
        "tweets": file.tweets,
        "first_id": str(file.first_ids[0]),
        "last_id": str(file.last_ids[-1]),
        "columns": file.columns,
    }
    return {**entry, "taken_from": file.taken_from} if isinstance(file, ArchiveFile) else entry
