"""SIGTERM ends a run as Ctrl-C does: everything is unwound, and no process outlives it."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager, suppress

import psutil


class Told(KeyboardInterrupt):
    """To end, by a signal; psycopg and subprocess end what they wait for as at any Ctrl-C."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


def tell(number, _frame):
    # `timeout` sends it twice, and people press Ctrl-C again: that may not break the unwinding.
    listen(lambda *_: None)
    raise Told(number)


def listen(handler):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


@contextmanager
def ended_by_signals():
    """Exit status 128 + the signal's number, after all that was begun inside is undone."""
    listen(tell)
    try:
        yield
    except Told as told:
        print(f"ended by {told}", file=sys.stderr, flush=True)
        sys.exit(told.status)
    finally:
        end_children()


def end_children():
    """Those that a signal in the midst of their birth left to nobody."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()
            child.wait(10)
