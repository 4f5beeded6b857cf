"""No process of a cluster outlives the one that started it.

main ─> sentinel ─> workers, pusher, monitor: each asks the kernel for SIGKILL when its parent dies,
so that kill -9 of main or of the sentinel leaves no process at work without a guard.
"""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.prctl.restype = ctypes.c_int


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent, with this pid, dies; else OSError."""
    if _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl(PR_SET_PDEATHSIG): {os.strerror(error)}")
    # If the parent died before the call above, no signal will come.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
