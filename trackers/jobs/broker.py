"""django-q2's broker on Postgres: claimed batches become signed tasks, beside the ordinary ones.

pusher ─ dequeue ─> a batch of a queue, as one task for its `task`
                └─> an ordinary async_task or Schedule, from django-q2's own table
Queues and ordinary tasks take turns, so that none starves another.
A batch needs no acknowledgement: its worker finishes it or gives it back, in SQL, by its lease.
"""

from __future__ import annotations

import logging
import random
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import close_old_connections, connection
from django.utils import timezone
from django_q.brokers import Broker
from django_q.conf import Conf
from django_q.signing import SignedPackage

from trackers.jobs import queue
from trackers.jobs.models import SUSPECT_STRIKES
from trackers.jobs.processes.channel import refuse_too_large
from tweetwatch.database import LOST, cursor

logger = logging.getLogger(__name__)

_MAX_SLEEP = 0.5
_MAX_BACKOFF = 1.0
# Seconds to wait when a rival was faster, or the batch was not ready after all.
_A_MOMENT = 0.01
# Seconds for which claims start where the last one found something; then one starts at the head
# again. A bucket that is inserted before that bound meanwhile can be this late.
_BOUND_FOR = 1.0

# What the pusher gets: an id for the acknowledgement, and the signed task.
DequeuedTask = tuple[Any, str]
# Stands for the ordinary tasks in a list of lines; all other lines are queues.
_ORDINARY_TASKS = ""

_ENQUEUE = """
    INSERT INTO django_q_ormq (key, payload, lock) VALUES (%(key)s, %(payload)s, now()) RETURNING id
"""

# SKIP LOCKED: pushers of several clusters never wait for, nor take, each other's tasks.
_CLAIM_TASK = """
    WITH head AS MATERIALIZED (
        SELECT id FROM django_q_ormq
        WHERE key = %(key)s AND lock <= now()
        ORDER BY lock, id LIMIT 1
        FOR UPDATE SKIP LOCKED
    )
    UPDATE django_q_ormq task SET lock = now() + %(retry)s
    FROM head WHERE task.id = head.id
    RETURNING task.id, task.payload
"""

_DELETE_TASK = "DELETE FROM django_q_ormq WHERE id = %(id)s"

# Bounded: counting millions exactly for a monitor would be a load of its own.
_COUNT_TASKS = """
    SELECT count(*) FILTER (WHERE lock <= now()), count(*) FILTER (WHERE lock > now())
    FROM (SELECT lock FROM django_q_ormq WHERE key = %(key)s LIMIT 10001) bounded
"""


class PostgresBroker(Broker):
    def __init__(self, list_key: str | None = None) -> None:
        super().__init__(list_key)
        self.failures = 0
        self.turn = 0
        self.bounds: dict[str, tuple[queue.Low, float]] = {}
        self.asleep: dict[str, float] = {}
        self.full: str | None = None
        # By queue, after a batch with strikes: the next batch is of keys with fewer than this.
        self.fewer: dict[str, int] = {}
        self.logged_reason = ""
        # time.monotonic() since which the database has been there; None: since we began.
        self.connected_since: float | None = None

    def __setstate__(self, state: Any) -> None:
        self.__init__(state[0])  # type: ignore[misc]

    # Called by django-q2's async_task, in the caller's transaction: a rollback takes the task back.

    def enqueue(self, task: str) -> int:
        refuse_too_large(task)
        with cursor() as db:
            row = db.execute(_ENQUEUE, {"key": self.list_key, "payload": task}).fetchone()
        assert row is not None
        return int(row[0])

    # Called by the pusher, in a loop.

    def dequeue(self) -> list[DequeuedTask] | None:
        """The next batch or task; None, after a sleep, when there is none."""
        try:
            return self.next_in_turn()
        except LOST as lost:
            self.wait_for_the_database(lost)
            self.connected_since = time.monotonic()
            return None
        finally:
            close_old_connections()

    def next_in_turn(self) -> list[DequeuedTask] | None:
        lines = [_ORDINARY_TASKS, *sorted(queue.job_classes())]
        wait, began = _MAX_SLEEP, time.monotonic()
        for place in range(len(lines)):
            # The first turn rotates, so that a busy line starves no other.
            line = lines[(place + self.turn) % len(lines)]
            # An idle line is not asked again with every batch of a busy one.
            if (asleep := self.asleep.get(line, 0.0) - began) > 0:
                wait = min(wait, asleep)
                continue
            dequeued, seconds = (
                self.claim_task() if line == _ORDINARY_TASKS else self.claim_batch(line)
            )
            if dequeued:
                self.turn += place + 1
                self.failures = 0
                return [dequeued]
            self.asleep[line] = began + seconds
            wait = min(wait, seconds)
        self.failures = 0
        # The jitter keeps clusters from asking in step.
        time.sleep(wait * random.uniform(0.8, 1.0))
        return None

    def claim_batch(self, name: str) -> tuple[DequeuedTask | None, float]:
        """A batch that is ready; without one, seconds until it is worth looking again."""
        low = self.bound(name)
        batch = self.claim_of_others(name, low)
        if batch is None:
            # After a full batch there is usually another, so claim without asking first.
            seconds = 0.0 if name == self.full else queue.ready_in(name, low=low)
            if seconds is None or seconds > 0:
                return None, _MAX_SLEEP if seconds is None else min(seconds, _MAX_SLEEP)
            batch = queue.claim_batch(name, low=low, connected=self.connected())
        if batch is None:
            self.full = None
            return None, _A_MOMENT
        self.bounds[name] = (batch.next_low, self.bounds[name][1])
        self.full = name if batch.is_full else None
        if batch.strikes:
            self.fewer[name] = min(batch.strikes, SUSPECT_STRIKES)
        return (("batch", name), self.signed(batch)), 0.0

    def claim_of_others(self, name: str, low: queue.Low) -> queue.Batch | None:
        """After a batch with strikes, claim one with fewer. Suspects go in tens or alone, and all
        others, above all the young, would otherwise wait until the last suspect is looked up."""
        fewer = self.fewer.pop(name, None)
        if not fewer:
            return None
        return queue.claim_batch(
            name, low=low, fewer_strikes_than=fewer, connected=self.connected()
        )

    def connected(self) -> timedelta:
        """For how long this process has not lost the database."""
        if self.connected_since is None:
            return queue.ALWAYS
        return timedelta(seconds=time.monotonic() - self.connected_since)

    def bound(self, name: str) -> queue.Low:
        """Where the claim starts: where the last one found something, or at the head."""
        low, since = self.bounds.get(name, (queue.THE_HEAD, -_BOUND_FOR))
        if time.monotonic() - since >= _BOUND_FOR:
            low = queue.THE_HEAD
            self.bounds[name] = (low, time.monotonic())
        return low

    def claim_task(self) -> tuple[DequeuedTask | None, float]:
        """An ordinary task that is due; without one, seconds until it is worth looking again."""
        params = {"key": self.list_key, "retry": timedelta(seconds=Conf.RETRY)}
        with cursor() as db:
            row = db.execute(_CLAIM_TASK, params).fetchone()
        return ((("task", row[0]), row[1]), 0.0) if row else (None, _MAX_SLEEP)

    @staticmethod
    def signed(batch: queue.Batch) -> str:
        pack: str = SignedPackage.dumps(
            {
                "id": uuid4().hex,
                "name": f"{len(batch.keys)} of {batch.queue}",
                "func": batch.task,
                "args": (batch,),
                "kwargs": {},
                "started": timezone.now(),
                "ack_failure": True,
                "save": False,
            }
        )
        return pack

    def wait_for_the_database(self, lost: Exception) -> None:
        """Drop the connection and wait, longer each time up to a second; the next call connects."""
        connection.close()
        reason = str(lost).strip()
        # Log once for each reason: the database may be back, but read-only.
        if self.failures == 0 or reason != self.logged_reason:
            logger.warning("The queue waits for its database: %s", reason)
        self.logged_reason = reason
        time.sleep(min(_MAX_BACKOFF, 0.05 * 2**self.failures) * random.uniform(0.8, 1.0))
        self.failures = min(self.failures + 1, 10)

    # Called by the monitor.

    def acknowledge(self, ack_id: Any) -> None:
        """Delete an ordinary task that is done, retrying until the database answers."""
        kind, id = ack_id
        while kind == "task":
            try:
                with cursor() as db:
                    db.execute(_DELETE_TASK, {"id": id})
                return
            except LOST as lost:
                self.wait_for_the_database(lost)

    def fail(self, ack_id: Any) -> None:
        """A task that cannot be run is deleted; a batch is due again when its lease runs out."""
        self.acknowledge(ack_id)

    delete = acknowledge

    def ping(self) -> bool:
        return True

    def info(self) -> str:
        return "PostgreSQL, tweetwatch's delayed queue"

    def queue_size(self) -> int:
        return self.count_tasks()[0]

    def lock_size(self) -> int:
        return self.count_tasks()[1]

    def count_tasks(self) -> tuple[int, int]:
        with cursor() as db:
            row = db.execute(_COUNT_TASKS, {"key": self.list_key}).fetchone()
        assert row is not None
        return row[0], row[1]

    def purge_queue(self) -> None:
        """Delete the ordinary tasks of this cluster, and never a key of a queue."""
        with cursor() as db:
            db.execute("DELETE FROM django_q_ormq WHERE key = %(key)s", {"key": self.list_key})

    delete_queue = purge_queue

    # Heartbeats are rows of their own (trackers.jobs.processes.heartbeats).

    def set_stat(self, key: str, value: str, timeout: int) -> None:
        return None

    def get_stat(self, key: str) -> None:
        return None

    def get_stats(self, pattern: str) -> list[Any]:
        return []
