"""A worker's timer that no killed worker can keep: a deadline in shared memory, no lock.

django-q2 has the guard count a `Value` down under the lock that the worker holds while it hands
on a result; a worker killed there freezes the guard for ever. Here the worker stores when its
task must be over and the guard only reads, so there is one writer and nothing to lock.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from contextlib import AbstractContextManager, nullcontext

_IDLE_CODE = -1.0


class Timer:
    """Replaces `multiprocessing.Value("f", -1)` as the timer of one worker.

    Built by the process that guards, before the worker is forked. `value` in seconds:

    1. above 0: the time that the task has left;
    2. exactly 0: its time is up (the guard compares with `== 0`);
    3. -1 idle, -2 recycled: as the worker wrote it.
    """

    def __init__(self) -> None:
        self._guard = os.getpid()
        self._memory = mmap.mmap(-1, ctypes.sizeof(ctypes.c_double))
        # One aligned double, so a read never sees half a write. CLOCK_MONOTONIC is above 0 and
        # the same in every process; the codes are 0 and below.
        self._word = ctypes.c_double.from_buffer(self._memory)
        self._word.value = _IDLE_CODE

    @property
    def value(self) -> float:
        word = self._word.value
        return max(0.0, word - time.monotonic()) if word > 0 else word

    @value.setter
    def value(self, seconds: float) -> None:
        # Ignore the guard's `timer.value -= cycle`: a deadline needs no counting down.
        if os.getpid() == self._guard:
            return
        self._word.value = time.monotonic() + seconds if seconds > 0 else float(seconds)

    def get_lock(self) -> AbstractContextManager[None]:
        return nullcontext()
