"""The machine's resources: memory for the server's buffers, and room on its disk."""

from __future__ import annotations

import os
from pathlib import Path

import psutil  # type: ignore[import-untyped]

MB = 1 << 20
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
# With less, PostgreSQL may be unable to begin its next WAL file (16 MB).
_MIN_FREE_SPACE = 32 * MB


def memory() -> int:
    """Bytes of the machine, or of the container if that has less."""
    total: int = psutil.virtual_memory().total
    try:
        limit = _CGROUP_LIMIT.read_text().strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total


def shared_buffers(memory: int) -> int:
    """An eighth of the memory, since the program runs beside it; in MB, from 64 to 1,024."""
    return max(64, min(1024, memory // 8 // MB))


def full_disk_sentence(directory: Path) -> str:
    """A sentence if the disk of that directory is full, else empty."""
    try:
        disk = os.statvfs(directory)
    except OSError:
        return ""
    left = disk.f_bavail * disk.f_frsize
    if left >= _MIN_FREE_SPACE:
        return ""
    return (
        f"The disk of {directory} is full ({left // MB} MB left). Nothing that was stored is "
        "lost, and PostgreSQL continues by itself once there is room again."
    )
