"""Files packed with xz, with bounded memory: a file may require gigabytes to be unpacked."""

from __future__ import annotations

import io
import lzma
from typing import Any

from trackers.ingest.found_tweets import UnreadableError

XZ = b"\xfd7zXZ\x00"
# `xz -9` needs 65 MB.
_MOST_MEMORY = 192 << 20
_TOO_MUCH = (
    "It takes more than 192 MB of memory to unpack with xz. Unpack it, or compress it with xz -9."
)
_CHUNK_SIZE = 1 << 16


class Xz(io.RawIOBase):
    """One stream after another, as xz itself reads them; zeros between them are padding."""

    def __init__(self, packed: io.BufferedReader[Any]) -> None:
        self._packed, self._decoder = packed, _decoder()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)
        while True:
            if self._decoder.eof:
                rest = self._decoder.unused_data.lstrip(b"\0")
                while not rest and (more := self._packed.read1(_CHUNK_SIZE)):
                    rest = more.lstrip(b"\0")
                if not rest:
                    return 0
                self._decoder = _decoder()
            elif self._decoder.needs_input:
                rest = self._packed.read1(_CHUNK_SIZE)
                if not rest:
                    raise EOFError("it ends too early")
            else:
                rest = b""
            if found := self._unpack(rest, len(room)):
                room[: len(found)] = found
                return len(found)

    def _unpack(self, packed: bytes, most: int) -> bytes:
        try:
            return self._decoder.decompress(packed, most)
        except lzma.LZMAError as fault:
            if "Memory usage limit" in str(fault):
                raise UnreadableError(_TOO_MUCH) from None
            raise


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
