"""An installation goes on with an archive: its own after a restore, or that of one that has ended.

Each file of the manifests that is not in the index is read, compared with its manifest, and counts;
rows here that it has go. So a month that was archived after the backup is not archived again. Files
of the index that a manifest leaves out, though it is of later, no longer count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import orjson
from django.db import transaction
from django.db.models.functions import Now

from trackers.tweets.archive.layout import OWNER_FILE, part_number, part_path
from trackers.tweets.archive.lease import ArchiveError, Lease, owner_line, writing_to
from trackers.tweets.archive.manifests import write_due_manifests
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth
from trackers.tweets.archive.proof import Proof, read_back
from trackers.tweets.archive.store import Store, lacking_packages
from trackers.tweets.archive.write import delete_written, register, remove_unfinished
from trackers.tweets.pack import PACKING_SAMPLES
from tweetwatch.pieces import wait_for_work

# Whatever was removed here, a file that is adopted may have it.
_BEFORE_ALL = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Adopted:
    files: int = 0
    samples: int = 0


def adopt(store: Store) -> Adopted | None:
    """From now on the archive is this installation's; what was added to the index. None: another
    process writes. ArchiveError or OSError: a file is missing or damaged, and it is still the
    other's."""
    if lacking := lacking_packages(store):
        raise ArchiveError(lacking)
    adopted = Adopted()
    with writing_to(store, as_owner=False) as lease:
        if lease is None:
            return None
        for path in store.names("manifests", "*.json"):
            manifest = _read_manifest(store, path)
            _adopt_month(store, lease, manifest, adopted)
        remove_unfinished(store)
        with store.writing(OWNER_FILE) as file:
            file.write(owner_line(lease.installation))
        write_due_manifests(store, lease.installation)
    return adopted


@dataclass(frozen=True, slots=True)
class _Manifest:
    month: date
    parts: int  # it is of when so many had been begun
    entries: list[dict[str, Any]]  # its files, all of which are parts of that month


def _read_manifest(store: Store, path: str) -> _Manifest:
    try:
        manifest = orjson.loads(store.read(path) or b"")
        month, entries = date.fromisoformat(f"{manifest['month']}-01"), manifest["files"]
        parts = int(manifest["parts"])
        for entry in entries:
            if entry["path"] != part_path(month, part_number(entry["path"])):
                raise ValueError
            entry["sha256"], entry["samples"] = str(entry["sha256"]), int(entry["samples"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ArchiveError(
            f"{path} in {store} is no manifest: get it from another copy, or remove it if its "
            "files are to be left out."
        ) from None
    return _Manifest(month, parts, entries)


def _adopt_month(store: Store, lease: Lease, manifest: _Manifest, adopted: Adopted) -> None:
    month, listed = manifest.month, {entry["path"]: entry for entry in manifest.entries}
    files = ArchiveFile.objects.filter(month=month)
    for file in files.filter(path__in=listed):
        # One that was not finished in the backup, and is by now: as if nothing were known of it.
        if not (file.state == file.State.WRITTEN and file.sha256 == listed[file.path]["sha256"]):
            file.delete()
    known = set(files.values_list("path", flat=True))
    for entry in manifest.entries:
        if entry["path"] not in known:
            _adopt_file(store, lease, month, entry)
            adopted.files += 1
            adopted.samples += entry["samples"]
    # Those that were made anew since the backup, without what people removed.
    for file in files.filter(state=ArchiveFile.State.WRITTEN).exclude(path__in=listed):
        if part_number(file.path) <= manifest.parts:
            file.state, file.at = ArchiveFile.State.REPLACED, Now()
            file.save()
    row, _ = ArchiveMonth.objects.get_or_create(month=month)
    row.parts, row.manifest_is_due = max(row.parts, manifest.parts), True
    row.save()


def _adopt_file(store: Store, lease: Lease, month: date, entry: dict[str, Any]) -> None:
    proof = _proven(store, month, entry)
    with transaction.atomic():
        lease.renew()
        wait_for_work(PACKING_SAMPLES)
        ArchiveMonth.objects.get_or_create(month=month)
        # Rows that differ from the file stay: what is in both is taken once.
        delete_written(proof.contents)
        file = ArchiveFile.objects.create(path=entry["path"], month=month, at=Now())
        register(file, proof, at=_BEFORE_ALL)


def _proven(store: Store, month: date, entry: dict[str, Any]) -> Proof:
    try:
        proof = read_back(store, entry["path"], month)
    # What pyarrow raises for a damaged file.
    except ValueError:
        proof = None
    if proof is None or proof.sha256 != entry["sha256"]:
        raise ArchiveError(
            f"{entry['path']} in {store} is not what its manifest says: get it from another copy."
        )
    return proof
