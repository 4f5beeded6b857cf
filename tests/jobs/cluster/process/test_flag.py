import multiprocessing
import os
import signal
import threading
import time

import pytest

from tests.jobs.cluster.running import poll, stat
from trackers.jobs.processes.flag import Flag

fork = multiprocessing.get_context("fork")


def kill_while_it_waits(process, began):
    assert began.recv() == "waits"
    assert poll(lambda: stat(process.pid)[0] == "S")
    # Into the call: what is told comes just before it.
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def wait(event, tells):
    tells.send("waits")
    event.wait(60)


@pytest.mark.parametrize(("kind", "hangs"), [(fork.Event, True), (Flag, False)])
def test_after_a_killed_waiter_setting_hangs_only_with_the_stock_event(start, kind, hangs):
    event = kind()
    began, tells = fork.Pipe(duplex=False)
    kill_while_it_waits(start(wait, event, tells), began)

    setter = start(event.set)
    setter.join(2)

    # When the first of the two fails, upstream has mended it: see docs/django-q2.md.
    assert setter.is_alive() is hangs


def test_a_flag_set_in_another_process_is_seen(start):
    flag = Flag()
    assert not flag.is_set()

    start(flag.set)

    assert flag.wait(5)
    assert flag.is_set()


def test_waiting_ends_in_time_and_says_so():
    began = time.monotonic()

    assert Flag().wait(0.1) is False

    assert 0.1 <= time.monotonic() - began < 2


def test_waiting_without_a_limit_ends_when_the_flag_is_set():
    flag = Flag()
    waiter = threading.Thread(target=flag.wait, daemon=True)
    waiter.start()

    flag.set()

    waiter.join(5)
    assert not waiter.is_alive()
    flag.clear()
    assert not flag.is_set()
