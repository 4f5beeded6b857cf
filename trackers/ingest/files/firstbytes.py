"""What a file is not: archives, workbooks and encodings that are known by their first bytes."""

from __future__ import annotations

import zlib
from typing import BinaryIO

from trackers.ingest.files.opening import GZIP
from trackers.ingest.found import UnreadableError

LOOKED_AT = 1 << 16
KNOWN = (
    (b"PK\x03\x04", "It is a ZIP archive or a workbook: unpack it, or save the sheet as CSV."),
    (b"\xd0\xcf\x11\xe0", "It is an old workbook or document: save the sheet as CSV."),
    (b"%PDF", "It is a PDF, which holds no lines to read."),
    (b"\xfd7zXZ", "It is packed with xz: unpack it, or pack it with gzip."),
    (b"BZh", "It is packed with bzip2: unpack it, or pack it with gzip."),
    (b"\x28\xb5\x2f\xfd", "It is packed with zstd: unpack it, or pack it with gzip."),
    (b"\xff\xfe", "It is written in UTF-16: save it as UTF-8."),
    (b"\xfe\xff", "It is written in UTF-16: save it as UTF-8."),
)


def first_bytes(file: BinaryIO) -> bytes:
    """The first bytes, unpacked; rewinds the file."""
    file.seek(0)
    found = file.read(LOOKED_AT)
    file.seek(0)
    if not found.startswith(GZIP):
        return found
    try:
        return zlib.decompressobj(wbits=31).decompress(found, LOOKED_AT)
    except zlib.error:
        raise UnreadableError("It is packed with gzip and damaged from its beginning.") from None


def check(head: bytes) -> str:
    """A sentence to show before reading, if any. Raises UnreadableError if it is not text."""
    if not head:
        raise UnreadableError("The file is empty.")
    for mark, sentence in KNOWN:
        if head.startswith(mark):
            raise UnreadableError(sentence)
    if b"\0" in head:
        sparse = head[::2].count(0) == 0 or head[1::2].count(0) == 0
        raise UnreadableError(
            "It seems to be written in UTF-16: save it as UTF-8."
            if sparse and head.count(0) > len(head) // 4
            else "It is no text: there are zero bytes in it."
        )
    return "" if is_utf8(head) else "Not all of it is UTF-8: letters beyond ASCII may be lost."


def is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as fault:
        # A character may be cut at the end.
        return fault.start > len(head) - 4 and len(head) == LOOKED_AT
    return True
