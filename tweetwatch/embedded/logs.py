"""Keeps logs small: the contents of one that grew too large move to a file with `.1`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LARGEST = 10_000_000


def is_too_large(path: Path) -> bool:
    try:
        return path.lstat().st_size > LARGEST
    except FileNotFoundError:
        return False


def rotate(path: Path) -> None:
    """Copy it, then truncate it: its writers have it open, for appending. Call as its owner."""
    shutil.copyfile(path, path.with_name(f"{path.name}.1"))
    os.truncate(path, 0)
