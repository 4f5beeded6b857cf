"""What the clusters under test are given to do."""

import gc
import os
import signal
import time
from pathlib import Path

import psutil


def note(path, word):
    with Path(path).open("a") as file:
        file.write(f"{word}\n")


def linger(path, word, seconds):
    """Tell that it began, take its time, tell that it ended."""
    note(path, f"{word} begins")
    time.sleep(seconds)
    note(path, word)


def hang(path, word):
    """As code that never comes back to Python: the alarm of the time-out does not reach it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    note(path, f"{word} begins")
    time.sleep(600)


def fail(path, word):
    note(path, word)
    raise ValueError("as asked")


def answer(path, word, *, size):
    note(path, word)
    return b"x" * size


def open_lock(path, word):
    """An answer that has no pickle."""
    note(path, word)
    return time.monotonic, os.open, (thing for thing in ())


def collect(path, word):
    """Tell by how many bytes the memory grows that this process shares with nobody."""
    before = psutil.Process().memory_full_info().uss
    gc.collect()
    note(path, f"{word} grew by {psutil.Process().memory_full_info().uss - before}")
    note(path, word)
