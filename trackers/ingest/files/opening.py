"""Files ─> lines, one at a time; packed ones are known by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from trackers.ingest.files.limits import NO_LIMITS, Limits, Taken
from trackers.ingest.files.xz import XZ, Xz

_GZIP = b"\x1f\x8b"
# With the mark of its first block: a text may well begin with BZh.
_BZIP2 = (*(b"BZh%d1AY&SY" % level for level in range(1, 10)), b"BZh9\x17rE8P\x90")
LONGEST_MARK = 10
# A longer line comes in pieces, instead of filling the memory; only the last piece has a line end.
# A page of five hundred tweets with all that belongs to them is some 5 MB.
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


def packer_of(head: bytes) -> str:
    """What a file is packed with, by its first bytes; empty when it is not."""
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_BZIP2):
        return "bzip2"
    return "xz" if head.startswith(XZ) else ""


def unpacked(buffered: io.BufferedReader[Any]) -> io.BufferedIOBase:
    match packer_of(buffered.peek(LONGEST_MARK)):
        case "gzip":
            return gzip.GzipFile(fileobj=buffered)
        case "bzip2":
            return bz2.BZ2File(buffered)
        case "xz":
            return io.BufferedReader(Xz(buffered), 1 << 18)
        case _:
            return buffered


class CarriageReturns(io.RawIOBase):
    """A file whose lines end with a carriage return alone, as old spreadsheets write CSV, read
    with line feeds instead."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = self._file.read1(len(memoryview(buffer)))
        memoryview(buffer)[: len(read)] = read.replace(b"\r", b"\n")
        return len(read)


class Utf16(io.RawIOBase):
    """A file in UTF-16, as Windows writes it, read as UTF-8."""

    def __init__(self, file: io.BufferedIOBase, encoding: str) -> None:
        self._file = file
        self._decoder = getincrementaldecoder(encoding)("replace")
        self._encoded = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)
        while not self._encoded:
            read = self._file.read1(len(room))
            self._encoded = self._decoder.decode(read, final=not read).encode("utf-8", "replace")
            if not read and not self._encoded:
                return 0
        count = min(len(room), len(self._encoded))
        room[:count], self._encoded = self._encoded[:count], self._encoded[count:]
        return count


def utf_16_of(head: bytes) -> str:
    """The encoding, where a text begins in UTF-16, with or without its mark; else empty."""
    if head.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if head.startswith(b"\xfe\xff"):
        return "utf-16-be"
    head = head[: len(head) // 2 * 2]
    # Each second byte: what people have are mostly letters and digits of ASCII.
    for encoding, zeros, others in (
        ("utf-16-le", head[1::2], head[::2]),
        ("utf-16-be", head[::2], head[1::2]),
    ):
        if len(head) > 8 and zeros.count(0) > 0.9 * len(zeros) and not others.count(0):
            return encoding
    return ""


def _in_utf_8(stream: io.BufferedIOBase) -> io.BufferedIOBase:
    head = cast("io.BufferedReader[Any]", stream).peek(LONGEST_MARK)[:4096]
    encoding = utf_16_of(head)
    return io.BufferedReader(Utf16(stream, encoding), 1 << 18) if encoding else stream


def _with_line_feeds(stream: io.BufferedIOBase) -> io.BufferedIOBase:
    """A carriage return ends a line only where the file begins with such lines alone: elsewhere
    it may be part of a text."""
    # The last byte may be the first half of a line end.
    head = cast("io.BufferedReader[Any]", stream).peek(LONGEST_MARK)[:-1]
    if b"\r" in head and b"\n" not in head:
        return io.BufferedReader(CarriageReturns(stream), 1 << 18)
    return stream


# What the unpackers raise.
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def is_damage(fault: Exception) -> bool:
    """Not a fault of disk or network: bzip2 raises a plain OSError, without an errno."""
    if isinstance(fault, OSError) and not isinstance(fault, gzip.BadGzipFile):
        return type(fault) is OSError and fault.errno is None
    return True


def lines_of(
    file: BinaryIO,
    *,
    passed: Callable[[int], None],
    limits: Limits = NO_LIMITS,
    taken: Taken | None = None,
) -> Iterator[str]:
    """The lines of a file, with their ends; `passed` is called with the number of bytes read.

    Bytes that are not UTF-8 are shown as such. A very long line comes in several pieces. Raises
    CutOff where a packed file breaks off, and TooLargeError past the limits; `taken` adds up what
    several files contain.
    """
    taken = taken or Taken()
    counted = Counted(file)
    buffered = io.BufferedReader(counted, 1 << 18)
    stream = unpacked(buffered)
    begins_at, is_packed = taken.bytes, stream is not buffered
    pieces = getincrementaldecoder("utf-8")("replace")
    is_cut = False
    try:
        stream = _with_line_feeds(_in_utf_8(stream))
        while line := stream.readline(LONGEST_LINE):
            passed(counted.taken)
            taken.bytes += len(line)
            was_cut, is_cut = is_cut, len(line) == LONGEST_LINE and not line.endswith(b"\n")
            taken.lines += not was_cut
            limits.check(taken)
            if is_packed:
                limits.check_ratio(packed=counted.taken, unpacked=taken.bytes - begins_at)
            if b"\0" in line:
                # PowerShell's >> appends UTF-16 to a file that is not.
                line = line.replace(b"\0", b"")
            if is_cut or was_cut:
                # A character may be split between two pieces.
                yield pieces.decode(line, final=not is_cut)
            else:
                yield line.decode("utf-8", "replace")
    except DAMAGE as fault:
        if not is_damage(fault):
            raise
        raise CutOff(f"the compressed file breaks off here: {fault}") from fault
