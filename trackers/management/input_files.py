"""Files that a command is given by name, or as standard input, looked at before they are read."""

from __future__ import annotations

import sys
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from django.core.management.base import CommandError

from trackers.ingest.files.archive import Archive
from trackers.ingest.files.firstbytes import LOOKED_AT, ZIP, check_first_bytes, first_bytes
from trackers.ingest.files.opening import packer_of
from trackers.ingest.found_tweets import UnreadableError

STDIN = "-"
AT_TERMINAL = "Reading from this terminal: one id or address per line. End with Ctrl-D."


def require_input(name: str) -> None:
    """CommandError for what is neither standard input nor a file; a pipe may be given by name."""
    if name == STDIN:
        return
    if name and Path(name).is_dir():
        raise CommandError(f"{name} is a folder. Give the files in it.", returncode=2)
    if not name or not Path(name).exists():
        raise CommandError(
            f"“{name}” is not a tweet id, a tweet's address or a file.", returncode=2
        )


def open_input(name: str) -> BinaryIO:
    return sys.stdin.buffer if name == STDIN else Path(name).open("rb")


def inspect_input(name: str, file: BinaryIO) -> str:
    """A sentence to tell before it is read, if any; UnreadableError for what is not text.

    The same checks as for an upload.
    """
    if file.isatty():
        return AT_TERMINAL
    if file.seekable():
        head = first_bytes(file)
    else:
        # What a pipe has brought so far; a packed one shows only that it is packed.
        head = file.peek(LOOKED_AT)[:LOOKED_AT] if isinstance(file, BufferedReader) else b""
        head = b"" if packer_of(head) else head
    if head.startswith(ZIP):
        if file.seekable():
            # A workbook is one too, and has a sentence of its own.
            Archive(file)
        raise UnreadableError("It is a ZIP archive. Unpack it first.")
    # An empty one has nothing to check; the counts show that.
    warning = check_first_bytes(head) if head else ""
    return f"{name}: {warning}" if warning else ""
