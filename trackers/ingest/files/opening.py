"""Files ─> lines, one at a time; packed ones are known by their first bytes."""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

GZIP = b"\x1f\x8b"
# A longer line comes in pieces, of which only the last ends in a newline, and does not fill the
# memory. A page of five hundred tweets with everything that belongs to them is some 5 MB.
LONGEST_LINE = 16 << 20


class CutOff(Exception):
    """A packed file that ends too early or is damaged: the rest of it cannot be read."""


class Counted(io.RawIOBase):
    """A file that counts the bytes read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.taken = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Whatever is available: from a terminal or a pipe, lines come one by one.
        bytes = getattr(self._file, "read1", self._file.read)(len(memoryview(buffer)))
        memoryview(buffer)[: len(bytes)] = bytes
        self.taken += len(bytes)
        return len(bytes)


def lines_of(file: BinaryIO, *, passed: Callable[[int], None]) -> Iterator[str]:
    """The lines of a file, with their ends; `passed` is given how many of its bytes were read.

    Invalid UTF-8 shows as replacement characters. A very long line comes in several pieces. Raises
    CutOff where a packed file breaks.
    """
    counted = Counted(file)
    buffered = io.BufferedReader(counted, 1 << 18)
    stream: io.BufferedIOBase = buffered
    if buffered.peek(2)[:2] == GZIP:
        stream = gzip.GzipFile(fileobj=buffered)
    pieces = getincrementaldecoder("utf-8")("replace")
    is_cut = False
    try:
        while line := stream.readline(LONGEST_LINE):
            passed(counted.taken)
            was_cut, is_cut = is_cut, len(line) == LONGEST_LINE and not line.endswith(b"\n")
            if is_cut or was_cut:
                # A character may be split between two pieces.
                yield pieces.decode(line, final=not is_cut)
            else:
                yield line.decode("utf-8", "replace")
    except (EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise CutOff(f"the packed file breaks off here: {fault}") from fault
