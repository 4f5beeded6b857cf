"""django-q2's cluster with its locks taken out, so that kill -9 and SIGTERM never hang it.

main (signals, lookout) ─> sentinel (guard; a session of its own) ─> workers, pusher, monitor
       pusher ── Channel ──> workers ── Channel ──> monitor        sentinel ── Channel ──> lookout
Only main reacts to SIGINT and SIGTERM; the others end by a Flag and the stop message, or by
SIGKILL. What is fixed, and when a fix can be removed: docs/django-q2.md.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import time
from collections.abc import Callable
from multiprocessing import active_children, current_process
from multiprocessing.context import ForkProcess
from typing import Any, cast
from uuid import UUID, uuid4

import setproctitle
from django import db
from django_q import cluster as stock
from django_q.brokers import Broker
from django_q.conf import Conf
from django_q.worker import worker

from trackers.jobs import begun
from trackers.jobs.observed import tasks as noted
from trackers.jobs.processes import mortality
from trackers.jobs.processes.channel import Channel, UnsendableError
from trackers.jobs.processes.flag import Flag
from trackers.jobs.processes.heartbeats import SignOfLife, WorkerReporter
from trackers.jobs.processes.lookout import Lookout
from trackers.jobs.processes.recorder import Recorder
from trackers.jobs.processes.timer import Timer

logger = logging.getLogger(__name__)

# Seconds: django-q2's own bound when tasks have no timeout.
_TIMEOUT_WITHOUT_ONE = 30


class Child(ForkProcess):
    """A process of the cluster. It ignores SIGTERM, so terminating it means SIGKILL."""

    kind: str
    since: float
    timer: Timer

    def terminate(self) -> None:
        self.kill()

    def sign(self) -> SignOfLife:
        assert self.pid is not None
        return SignOfLife(self.kind, self.pid, self.since)


class Sentinel(stock.Sentinel):
    """Spawns and guards; everything it shares with its children is free of locks."""

    def __init__(
        self,
        stop_event: Flag,
        start_event: Flag,
        cluster_id: UUID,
        broker: Broker | None,
        timeout: int | None,
        news: Channel,
    ) -> None:
        # The stock class resets SIGTERM to its default; a signal that comes just then must wait.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        super().__init__(stop_event, start_event, cluster_id, broker, timeout, start=False)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        limit: Any = Conf.QUEUE_LIMIT
        self.task_queue = Channel(limit or 0, unsendable=self._refuse_task)
        self.result_queue = Channel(unsendable=self._shorten_result)
        self.event_out = Flag()
        self.news = news
        self.since = time.monotonic()

    def spawn_process(self, target: Callable[..., None], *args: Any) -> Child:
        child = Child(
            target=_live,
            args=(target, args, os.getpid(), self.cluster_id),
            name=f"Process-{uuid4().hex}",
        )
        child.kind = target.__name__
        child.since = time.monotonic()
        child.daemon = True
        if target is worker:
            child.daemon = bool(Conf.DAEMONIZE_WORKERS)
            child.timer = args[2]
            self.pool.append(child)
        child.start()
        return child

    def spawn_worker(self) -> None:
        self.spawn_process(worker, self.task_queue, self.result_queue, Timer(), self.timeout)

    def status(self) -> Any:
        # Called in every round of the guard and of the stop, so it serves as a heartbeat.
        self.news.offer(self._signs())
        return super().status()

    def _signs(self) -> tuple[SignOfLife, ...]:
        children = [*self.pool, self.monitor, self.pusher]
        living = [child.sign() for child in children if child is not None and child.is_alive()]
        return (SignOfLife("sentinel", os.getpid(), self.since), *living)

    def _refuse_task(self, task: dict[str, Any], error: UnsendableError) -> None:
        # In the pusher. If the task killed it, it would come back and kill the next pusher.
        logger.error("Gave up task %s: %s", task["name"], error)
        self.broker.fail(task["ack_id"])

    def _shorten_result(self, task: dict[str, Any], error: UnsendableError) -> None:
        # In the worker: the task ran, and the monitor must still learn that it ended.
        logger.error("Task %s has a result that cannot be handed on: %s", task["name"], error)
        short = {**task, "success": False, "result": f"The result cannot be handed on: {error}"}
        try:
            self.result_queue.send(short)
        except UnsendableError:
            self.result_queue.send({**short, "args": (), "kwargs": {}})


def _live(target: Callable[..., None], args: tuple[Any, ...], sentinel: int, cluster: UUID) -> None:
    """The life of a worker, a pusher or a monitor."""
    mortality.die_with(sentinel)
    # Objects from before the fork live as long as the process, and a batch makes thousands of
    # objects but no cycles: a collection after every 700 would take a tenth of its time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    if target is worker:
        teller = WorkerReporter(cluster)
        teller.listen()
        noted.listen()
        begun.listen()
        args[0].before_rest = teller.rest
    target(*args)


def _guard(main: int, *args: Any) -> None:
    """The life of the sentinel."""
    # A session of its own: a signal to main's process group is for main alone.
    os.setsid()
    setproctitle.setproctitle(f"qcluster {current_process().name} sentinel")
    mortality.die_with(main)
    try:
        Sentinel(*args).start()
    finally:
        # multiprocessing would send SIGTERM to what is left here and wait for ever.
        for child in active_children():
            child.kill()


class Cluster(stock.Cluster):
    """`start()`, then `watch()` until a signal comes or something dies. One per process."""

    # Seconds: between heartbeats, between figures, and what a clean stop may take beyond the
    # longest task.
    look_every = 5.0
    record_every = 3.0
    stop_margin = 10.0
    stop_requested = False

    # Called in main, every few seconds.
    record: Callable[[], None] | None = None

    # None in the stock class until the start.
    sentinel: Child
    stop_event: Flag
    start_event: Flag
    pid: int
    news: Channel

    def start(self) -> int:
        """Return this pid once the guard is up; RuntimeError if it does not come up."""
        setproctitle.setproctitle(f"qcluster {current_process().name} {self.name}")
        # A connection that is open across a fork would be shared by two processes.
        db.connections.close_all()
        self.stop_event, self.start_event, self.news = Flag(), Flag(), Channel()
        self.sentinel = Child(
            target=_guard,
            args=(
                os.getpid(),
                self.stop_event,
                self.start_event,
                self.cluster_id,
                self.broker,
                self.timeout,
                self.news,
            ),
            name=f"Process-{uuid4().hex}",
        )
        self.sentinel.start()
        while not self.start_event.wait(0.1) and not self.stop_requested:
            if not self.sentinel.is_alive():
                raise RuntimeError(
                    f"The cluster did not start: its sentinel ended with {self.sentinel.exitcode}."
                )
        return self.pid

    def watch(self) -> int:
        """The exit status: 0 after a clean stop, 1 when it had to be killed or died."""
        lookout = Lookout(self.cluster_id, self.news, every=self.look_every)
        lookout.start()
        recorder = Recorder(self.record, every=self.record_every) if self.record else None
        if recorder:
            recorder.start()
        try:
            while not self.stop_requested:
                if not self.sentinel.is_alive():
                    logger.critical("The sentinel died (%s).", self.sentinel.exitcode)
                    return 1
                if lookout.verdict:
                    logger.critical("%s", lookout.verdict)
                    self.kill()
                    return 1
                time.sleep(0.1)
            return 0 if self.stop() else 1
        finally:
            if recorder:
                recorder.close()
            lookout.close()
            # The status is known. Python gives signals their default effect back before it ends,
            # so one more Ctrl-C would turn a clean end into one by a signal.
            for signal_number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(signal_number, signal.SIG_IGN)

    def stop(self) -> bool:
        """Wait as long as a task may take for all to end; return whether they did, unkilled."""
        self.stop_event.set()
        timeout: Any = self.timeout or Conf.TIMEOUT or _TIMEOUT_WITHOUT_ONE
        most = timeout + self.stop_margin
        self.sentinel.join(most)
        if self.sentinel.is_alive():
            logger.critical("The cluster did not stop within %d s and is killed.", most)
            self.kill()
        return bool(self.sentinel.exitcode == 0)

    def kill(self) -> None:
        """SIGKILL for every process but this one."""
        try:
            os.killpg(cast(int, self.sentinel.pid), signal.SIGKILL)
        except ProcessLookupError:
            # It has no session yet, and so no children.
            self.sentinel.kill()
        self.sentinel.join()

    def sig_handler(self, signum: int, frame: object) -> None:
        # Nothing else: anything that blocks here would make main deaf to signals.
        self.stop_requested = True
