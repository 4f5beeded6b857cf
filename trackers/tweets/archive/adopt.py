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

from trackers.tweets.archive.files import INDEXES, index_of, register, remove_unfinished
from trackers.tweets.archive.layout import (
    OWNER_FILE,
    FileKind,
    kind_of_file,
    part_number,
    part_path,
)
from trackers.tweets.archive.lease import ArchiveError, Lease, owner_line, writing_to
from trackers.tweets.archive.manifests import write_due_manifests
from trackers.tweets.archive.models import ArchiveMonth, StoredFile
from trackers.tweets.archive.proof import Proof, read_back
from trackers.tweets.archive.store import Store, lacking_packages
from trackers.tweets.archive.write import delete_written
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
    entries: dict[str, dict[str, Any]]  # its files by path, all of which are parts of that month
    facts_up_to: int
    checkpoints_up_to: int


def _read_manifest(store: Store, path: str) -> _Manifest:
    try:
        manifest = orjson.loads(store.read(path) or b"")
        month, entries = date.fromisoformat(f"{manifest['month']}-01"), {}
        for key in ("files", "facts", "checkpoints"):
            for entry in manifest[key]:
                name = entry["path"]
                if name != part_path(kind_of_file(name), month, part_number(name)):
                    raise ValueError
                entries[name] = {
                    "sha256": str(entry["sha256"]),
                    "samples": int(entry.get("samples", 0)),
                }
        return _Manifest(
            month,
            int(manifest["parts"]),
            entries,
            int(manifest["facts_up_to"]),
            int(manifest["checkpoints_up_to"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ArchiveError(
            f"{path} in {store} is no manifest: get it from another copy, or remove it if its "
            "files are to be left out."
        ) from None


def _adopt_month(store: Store, lease: Lease, manifest: _Manifest, adopted: Adopted) -> None:
    month, listed = manifest.month, manifest.entries
    known = {file.path: file for index in INDEXES for file in index.objects.filter(month=month)}
    for path, entry in listed.items():
        if file := known.get(path):
            if file.state == StoredFile.State.WRITTEN and file.sha256 == entry["sha256"]:
                continue
            # Not finished in the backup, and by now it is: as if nothing were known of it.
            file.delete()
        _adopt_file(store, lease, month, path, entry)
        adopted.files += 1
        adopted.samples += entry["samples"]
    # Those that were made anew since the backup, without what people removed.
    for path, file in known.items():
        if path not in listed and part_number(path) <= manifest.parts:
            file.state, file.at = StoredFile.State.REPLACED, Now()
            file.save(update_fields=["state", "at"])
    row, _ = ArchiveMonth.objects.get_or_create(month=month)
    row.parts, row.manifest_is_due = max(row.parts, manifest.parts), True
    row.facts_up_to = max(row.facts_up_to, manifest.facts_up_to)
    row.checkpoints_up_to = max(row.checkpoints_up_to, manifest.checkpoints_up_to)
    row.save()


def _adopt_file(store: Store, lease: Lease, month: date, path: str, entry: dict[str, Any]) -> None:
    proof = _proven(store, month, path, entry)
    kind = kind_of_file(path)
    with transaction.atomic():
        lease.renew()
        ArchiveMonth.objects.get_or_create(month=month)
        if kind is FileKind.SAMPLES:
            wait_for_work(PACKING_SAMPLES)
            # Rows that differ from the file stay: what is in both is taken once.
            delete_written(proof.contents)
        file = index_of(kind).objects.create(path=path, month=month, at=Now())
        register(file, proof, at=_BEFORE_ALL)


def _proven(store: Store, month: date, path: str, entry: dict[str, Any]) -> Proof:
    try:
        proof = read_back(store, path, month)
    # What pyarrow raises for a damaged file.
    except ValueError:
        proof = None
    if proof is None or proof.sha256 != entry["sha256"]:
        raise ArchiveError(
            f"{path} in {store} is not what its manifest says: get it from another copy."
        )
    return proof
