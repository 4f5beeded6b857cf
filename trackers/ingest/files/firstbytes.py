"""What a file is not: the workbooks, packers and encodings that are known by their first bytes."""

from __future__ import annotations

import io
import re
from typing import BinaryIO

from trackers.ingest.files.opening import (
    DAMAGE,
    LONGEST_MARK,
    Counted,
    is_damage,
    packer_of,
    unpacked,
    utf_16_of,
)
from trackers.ingest.found_tweets import UnreadableError

LOOKED_AT = 1 << 16
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
ZIP = b"PK\x03\x04"
_KNOWN_FORMATS = (
    (b"\xd0\xcf\x11\xe0", "It is an old workbook or document. Save the sheet as CSV."),
    (b"%PDF", "It is a PDF. Give a text file instead."),
    (
        b"\x28\xb5\x2f\xfd",
        "It is compressed with zstd. Unpack it, or compress it with gzip, bzip2 or xz.",
    ),
    (b"7z\xbc\xaf\x27\x1c", "It is packed with 7-Zip. Unpack it, or pack it as a ZIP archive."),
    (b"Rar!\x1a\x07", "It is packed with RAR. Unpack it, or pack it as a ZIP archive."),
    (b"PAR1", "It is a Parquet file. Export it as CSV or JSON Lines."),
    (b"SQLite format 3\0", "It is an SQLite database. Export the table as CSV."),
    (b"PK\x05\x06", "It is an empty ZIP archive."),
)


def first_bytes(file: BinaryIO) -> bytes:
    """The first bytes of a file that can seek, unpacked; it stands at its beginning again."""
    file.seek(0)
    found = head_of(file)
    file.seek(0)
    return found


def head_of(file: BinaryIO) -> bytes:
    """The first bytes, unpacked. A block of bzip2 is large, so much more may be taken from it."""
    buffered = io.BufferedReader(Counted(file), LOOKED_AT)
    packer = packer_of(buffered.peek(LONGEST_MARK))
    stream = unpacked(buffered)
    head = b""
    try:
        while len(head) < LOOKED_AT and (more := stream.read1(LOOKED_AT - len(head))):
            head += more
    except DAMAGE as fault:
        if not is_damage(fault):
            raise
        if not head:
            raise UnreadableError(
                f"It is compressed with {packer}, and damaged from the start."
            ) from None
    return head


def check_first_bytes(head: bytes) -> str:
    """A sentence to show before reading, if any. Raises UnreadableError if it is not text."""
    if not head:
        raise UnreadableError("The file is empty.")
    for mark, sentence in _KNOWN_FORMATS:
        if head.startswith(mark):
            raise UnreadableError(sentence)
    if head[257:262] == b"ustar":
        raise UnreadableError("It is a tar archive. Unpack it, or pack the files as a ZIP archive.")
    if utf_16_of(head[:4096]):
        return ""
    if b"\0" in head:
        if _is_appended_utf_16(head):
            return "Part of it is in UTF-16. Some letters may be wrong."
        raise UnreadableError("It is not a text file.")
    return "" if _is_utf8(head) else "Not all of it is UTF-8. Some letters may be wrong."


def _is_appended_utf_16(head: bytes) -> bool:
    """Whether the zeros are those of letters: no two beside each other, no control characters."""
    return b"\0\0" not in head and not _CONTROLS.search(head.replace(b"\0", b""))


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as fault:
        # A character may be cut at the end.
        return fault.start > len(head) - 4 and len(head) == LOOKED_AT
    return True
