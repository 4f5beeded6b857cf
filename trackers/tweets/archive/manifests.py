"""A manifest a month: which files count, and what is in them. The database's index in writing, for
others who read the archive, and for an installation that goes on with it."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import orjson
from django.db.models import F

from trackers.tweets.archive.layout import SCHEMA_VERSION, manifest_path
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth
from trackers.tweets.archive.store import Store


def write_due_manifests(store: Store, installation: UUID) -> None:
    """Those of months whose files changed; a process that died in between left some."""
    due = ArchiveMonth.objects.filter(manifest_is_due=True).order_by("month")
    for month in due.values_list("month", flat=True):
        with store.writing(manifest_path(month)) as file:
            file.write(manifest_text(month, installation))
        ArchiveMonth.objects.filter(month=month).update(manifest_is_due=False)


def manifest_text(month: date, installation: UUID) -> bytes:
    files = [
        _file_entry(file)
        for file in ArchiveFile.objects.filter(
            month=month, state=ArchiveFile.State.WRITTEN
        ).order_by(F("ids").asc(), "path")
    ]
    manifest = {
        "schema": SCHEMA_VERSION,
        "installation": str(installation),
        "month": f"{month:%Y-%m}",
        # How many were begun by now: of these, what is not listed was replaced, or never counted.
        "parts": ArchiveMonth.objects.get(month=month).parts,
        "samples": sum(file["samples"] for file in files),
        "bytes": sum(file["bytes"] for file in files),
        "files": files,
    }
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2)


def _file_entry(file: ArchiveFile) -> dict[str, Any]:
    """Ids are text, since JSON readers round numbers of this size."""
    return {
        "path": file.path,
        "bytes": file.bytes,
        "sha256": file.sha256,
        "samples": file.samples,
        "tweets": file.tweets,
        "first_id": str(file.first_ids[0]),
        "last_id": str(file.last_ids[-1]),
        "taken_from": file.taken_from,
        "columns": file.columns,
    }
