"""Put before a host's Python when its wall clock is libfaketime's.

Debian's libfaketime 0.9.10, told to leave CLOCK_MONOTONIC alone, still takes the wall clock off a
monotonic deadline: `time.sleep` of Python 3.11 then fails with EINVAL. select() it leaves alone.
"""

from __future__ import annotations

import select
import time


def sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


time.sleep = sleep
