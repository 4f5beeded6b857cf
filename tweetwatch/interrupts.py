"""Ctrl-C while the program starts or ends: it ends at once, without a traceback.

An exception would be raised in the middle of an import, or of what tidies up at the end; some
libraries swallow or print it.
"""

from __future__ import annotations

import atexit
import os
import signal
from types import FrameType
from typing import NoReturn

# The exit status that a shell reports for SIGINT.
INTERRUPTED = 130
INTERRUPTED_SENTENCE = "Interrupted."


def exit_on_interrupt() -> None:
    """Until `raise_again`. Where SIGINT is ignored, as in the background, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Python would give the signal back to the kernel at its very end, which then kills a
        # program whose work is done. The first to be registered is the last to run.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGINT, _exit_interrupted)


def raise_on_interrupt() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt, so that a command can tidy up."""
    if signal.getsignal(signal.SIGINT) is _exit_interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit_interrupted(_signal: int, _frame: FrameType | None) -> NoReturn:
    os.write(2, f"{INTERRUPTED_SENTENCE}\n".encode())
    os._exit(INTERRUPTED)


def keep_status(status: int) -> int:
    """The command has ended: from here on Ctrl-C only cuts the tidying up short."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(status))
    return status
