"""Whether everything that counts is there, as it was written, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from trackers.tweets.archive.files import INDEXES
from trackers.tweets.archive.layout import FileKind, manifest_path
from trackers.tweets.archive.lease import ArchiveError
from trackers.tweets.archive.manifests import manifest_text
from trackers.tweets.archive.models import Installation, StoredFile
from trackers.tweets.archive.proof import read_back
from trackers.tweets.archive.store import Store, lacking_packages


def check_files(store: Store) -> Iterator[tuple[str, str]]:
    """Each file that counts, with what is wrong with it, or nothing; then manifests, and what does
    not belong there. Reads all of it."""
    if lacking := lacking_packages(store):
        raise ArchiveError(lacking)
    files = [file for index in INDEXES for file in index.objects.order_by("month", "path")]
    counting = [file for file in files if file.state == StoredFile.State.WRITTEN]
    for file in counting:
        yield file.path, _fault_of(store, file)
    if installation := Installation.objects.first():
        for month in sorted({file.month for file in counting}):
            path = manifest_path(month)
            is_right = store.read(path) == manifest_text(month, installation.known_as)
            yield path, "" if is_right else "It does not say what counts."
    known = {file.path for file in files}
    for kind in FileKind:
        for path in store.names(kind, "*/*.parquet"):
            if path not in known:
                yield path, f"It does not count, so whoever reads the folder may read {kind} twice."


def _fault_of(store: Store, file: StoredFile) -> str:
    try:
        proof = read_back(store, file.path, file.month)
    except FileNotFoundError:
        return "It is missing."
    # Also what pyarrow raises for a damaged file, which is a ValueError.
    except (OSError, ValueError) as error:
        return f"It cannot be read: {error}"
    return "" if proof.sha256 == file.sha256 else "It is not what was written."
