"""The channel, beside the queue that it stands for."""

import multiprocessing
import os
import pickle
import random
import signal
import threading
import time

import pytest
from django_q.queues import Queue

from tests.jobs.cluster.running import poll, stat
from trackers.jobs.processes.channel import (
    GROWTH,
    STOP,
    Channel,
    MessageTooLargeError,
    UnsendableError,
    refuse_too_large,
)

fork = multiprocessing.get_context("fork")


def read_all(queue, answers):
    while True:
        answers.send(queue.get())


def write_all(channel, me, count):
    for number in range(count):
        channel.put((me, number, "x" * random.randrange(3000)))


def kill(process):
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def sleeps(process):
    """Twice in a row: it waits in the kernel, and not for the processor."""
    return stat(process.pid)[0] == "S" and (time.sleep(0.05) or stat(process.pid)[0] == "S")


def test_the_stock_queue_is_dead_when_its_waiting_reader_is_killed(start):
    queue = Queue()
    hears, answers = fork.Pipe(duplex=False)
    first = start(read_all, queue, answers)
    # It holds the lock now, and waits.
    assert poll(lambda: not queue._rlock.acquire(block=False) or queue._rlock.release())

    kill(first)
    start(read_all, queue, answers)
    queue.put("word")

    # When this fails, upstream has mended it: see docs/django-q2.md.
    assert not hears.poll(3)


def test_a_channel_lives_on_when_its_waiting_reader_is_killed(start):
    channel = Channel()
    hears, answers = fork.Pipe(duplex=False)
    first = start(read_all, channel, answers)
    assert poll(lambda: sleeps(first))

    kill(first)
    start(read_all, channel, answers)
    channel.put("word")

    assert hears.poll(5)
    assert hears.recv() == "word"


def test_a_channel_lives_on_when_writers_are_killed_in_the_middle(start):
    channel = Channel()
    got = []
    for me in range(8):
        writer = start(write_all, channel, me, 10_000_000)
        while me not in got:
            got.append(channel.get()[0])
        until = time.monotonic() + random.uniform(0.01, 0.1)
        while time.monotonic() < until:
            got.append(channel.get()[0])
        kill(writer)

    # What the dead left is whole, and ends.
    while not channel.empty():
        got.append(channel.get()[0])
    channel.put("after all")

    assert channel.get() == "after all"
    assert set(got) == set(range(8))


def test_every_message_reaches_exactly_one_reader_whole(start):
    channel = Channel()
    hears, answers = fork.Pipe(duplex=False)
    lock = fork.Lock()

    def read(channel):
        while (message := channel.get()) != STOP:
            with lock:
                answers.send(message[:2])

    readers = [start(read, channel) for _ in range(3)]
    writers = [start(write_all, channel, me, 300) for me in range(3)]

    heard = [hears.recv() for _ in range(900) if hears.poll(10)]

    for writer in writers:
        writer.join(5)
    for _ in readers:
        channel.put(STOP)
    for reader in readers:
        reader.join(5)
    assert [reader.exitcode for reader in readers] == [0, 0, 0]
    assert sorted(heard) == [(me, number) for me in range(3) for number in range(300)]
    assert not hears.poll(0)


def test_a_bounded_channel_holds_one_and_its_writer_waits():
    channel = Channel(maxsize=1)
    channel.put("first")
    writer = threading.Thread(target=channel.put, args=("second",), daemon=True)
    writer.start()
    writer.join(0.2)
    assert writer.is_alive()

    assert channel.get() == "first"

    writer.join(5)
    assert not writer.is_alive()
    assert channel.get() == "second"


def test_stopping_does_not_wait_for_capacity():
    channel = Channel(maxsize=1)
    channel.put("first")

    channel.put(STOP)
    channel.put(STOP)

    assert [channel.get() for _ in range(3)] == ["first", STOP, STOP]


def test_a_channel_knows_whether_something_waits():
    channel = Channel()
    assert (channel.empty(), channel.qsize()) == (True, 0)

    channel.put("word")
    assert (channel.empty(), channel.qsize()) == (False, 1)

    channel.get()
    assert (channel.empty(), channel.qsize()) == (True, 0)


def test_an_offer_to_a_full_channel_is_dropped_and_latest_reads_the_newest():
    channel = Channel()
    taken = 0
    while channel.offer(("news", taken)):
        taken += 1

    assert taken > 10
    assert channel.latest() == ("news", taken - 1)
    assert channel.latest() is None


def test_the_largest_message_crosses_and_the_next_larger_is_refused_with_a_sentence():
    channel = Channel()
    # A pickle of bytes has a frame, of the same size for all that are large.
    frame = len(pickle.dumps(bytes(100_000), pickle.HIGHEST_PROTOCOL)) - 100_000
    largest = b"x" * (Channel.MOST - frame)

    channel.put(largest)

    assert channel.get() == largest
    with pytest.raises(MessageTooLargeError, match=r"is too large: .* can be handed to a worker"):
        channel.put(largest + b"x")


def test_unsendable_messages_go_to_the_given_callback():
    collected = []
    channel = Channel(unsendable=lambda message, error: collected.append((message, type(error))))
    unpicklable = {"result": (thing for thing in ())}
    too_large = "x" * (Channel.MOST + 1)

    channel.put(unpicklable)
    channel.put(too_large)

    assert collected == [(unpicklable, UnsendableError), (too_large, MessageTooLargeError)]
    assert channel.empty()


def test_a_signed_task_too_large_for_the_channel_is_refused():
    refuse_too_large("x" * (Channel.MOST - GROWTH))

    with pytest.raises(MessageTooLargeError, match="Put the data into a table"):
        refuse_too_large("x" * (Channel.MOST - GROWTH + 1))
