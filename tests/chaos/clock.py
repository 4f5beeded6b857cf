"""A wall clock of a host's own, by Debian's libfaketime; CLOCK_MONOTONIC stays true."""

from __future__ import annotations

from pathlib import Path

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
PRELOAD = Path(__file__).parent / "preload"
# How long a host may still read the time it had before a shift.
NOTICED_WITHIN = 1.0


def available():
    return bool(LIBRARIES)


class Clock:
    """`shift` moves the clock of every process of the host, while it runs."""

    def __init__(self, path):
        self.path = Path(path)
        self.shift(0)

    def shift(self, seconds):
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.replace(self.path)

    def environment(self):
        if not available():
            return {}
        return {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_CACHE_DURATION": f"{NOTICED_WITHIN:.0f}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "PYTHONPATH": str(PRELOAD),
        }
