"""Limits how many backups a folder keeps."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from trackers.backups.archive import ENDING, read_manifest
from trackers.backups.errors import BackupError

# Names given by `backup`; files with other names belong to the user.
_NAMED = re.compile(rf"tweetwatch-\d{{8}}T\d{{6}}Z{re.escape(ENDING)}")


def remove_older(folder: Path, *, keep: int) -> list[Path]:
    """Remove all intact backups but the newest `keep`; damaged ones do not count, and stay."""
    whole = []
    for path in sorted(folder.iterdir(), reverse=True):
        if _NAMED.fullmatch(path.name) and path.is_file():
            with contextlib.suppress(BackupError):
                read_manifest(path)
                whole.append(path)
    for path in whole[keep:]:
        path.unlink()
    return whole[keep:]
