from __future__ import annotations


class BackupError(RuntimeError):
    """A backup was not made, or not restored; the message says why, and what to do."""
