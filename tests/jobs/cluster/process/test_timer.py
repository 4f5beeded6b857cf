import multiprocessing
import os
import signal
import time

import pytest

from tests.jobs.cluster.running import poll
from trackers.jobs.processes.timer import Timer

fork = multiprocessing.get_context("fork")


def in_a_worker(timer, *values):
    """What a worker writes; the guard's process, this one, may only read."""

    def work():
        for value in values:
            timer.value = value

    worker = fork.Process(target=work)
    worker.start()
    worker.join(10)
    assert worker.exitcode == 0


def hold(timer, tells):
    with timer.get_lock():
        tells.send("holds")
        time.sleep(60)


def look(timer, tells):
    with timer.get_lock():
        tells.send(timer.value)


@pytest.mark.parametrize(("make", "hangs"), [(lambda: fork.Value("f", -1), True), (Timer, False)])
def test_a_worker_killed_in_the_lock_freezes_the_guard_only_with_the_stock_timer(make, hangs):
    timer = make()
    hears, tells = fork.Pipe(duplex=False)
    worker = fork.Process(target=hold, args=(timer, tells))
    worker.start()
    assert hears.recv() == "holds"
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()

    guard = fork.Process(target=look, args=(timer, tells))
    guard.start()
    guard.join(2)

    # When the first of the two fails, upstream has mended it: see docs/django-q2.md.
    assert guard.is_alive() is hangs
    guard.kill()
    guard.join()


def test_a_timer_is_idle_at_first():
    assert Timer().value == -1


@pytest.mark.parametrize("code", [-1, -2, 0])
def test_codes_are_read_back_as_written(code):
    timer = Timer()

    in_a_worker(timer, 5, code)

    assert timer.value == code


def test_the_timer_runs_down_to_exactly_zero():
    timer = Timer()

    in_a_worker(timer, 0.3)

    assert 0 <= timer.value <= 0.3
    assert poll(lambda: timer.value == 0)


def test_the_worker_can_extend_the_remaining_time():
    timer = Timer()

    def work():
        timer.value = 30
        timer.value += 3

    worker = fork.Process(target=work)
    worker.start()
    worker.join(10)

    assert 23 < timer.value <= 33


def test_the_guard_cannot_write_the_timer():
    timer = Timer()
    in_a_worker(timer, 30)

    timer.value -= 25

    assert timer.value > 20
