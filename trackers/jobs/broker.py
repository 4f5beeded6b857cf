"""django-q2's broker on Postgres: claimed batches become signed tasks, ordinary tasks go along.

pusher ─ dequeue ─> a batch of a namespace, as one task for its `task`
                └─> ordinary async_tasks and Schedules, from django-q2's own table
A batch needs no acknowledgement: its worker finishes it or gives it back, in SQL, by its lease.
"""

from __future__ import annotations

import logging
import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import (
    InterfaceError,
    InternalError,
    OperationalError,
    close_old_connections,
    connection,
)
from django.utils import timezone
from django_q.brokers import Broker
from django_q.conf import Conf
from django_q.signing import SignedPackage

from trackers.jobs import queue
from trackers.jobs.channel import refuse_too_large
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

LONGEST_SLEEP = 0.5
LONGEST_BACKOFF = 1.0
# How long a claim looks no further back than the last one did. What was put before that bound
# meanwhile waits for the next look from the head, so this is how late it can be.
BOUND_FOR = 1.0

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

ENQUEUE = """
    INSERT INTO django_q_ormq (key, payload, lock) VALUES (%(key)s, %(payload)s, now()) RETURNING id
"""

# SKIP LOCKED: pushers of several clusters never wait for, nor take, each other's tasks.
CLAIM_TASKS = """
    WITH head AS MATERIALIZED (
        SELECT id FROM django_q_ormq
        WHERE key = %(key)s AND lock <= now()
        ORDER BY lock, id LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    )
    UPDATE django_q_ormq task SET lock = now() + %(retry)s
    FROM head WHERE task.id = head.id
    RETURNING task.id, task.payload
"""

FORGET_TASK = "DELETE FROM django_q_ormq WHERE id = %(id)s"

# Bounded: a monitor that counts millions exactly is a load of its own.
COUNT_TASKS = """
    SELECT count(*) FILTER (WHERE lock <= now()), count(*) FILTER (WHERE lock > now())
    FROM (SELECT lock FROM django_q_ormq WHERE key = %(key)s LIMIT 10001) bounded
"""

# The database is away, overloaded, or read-only: after a while it is there again.
LOST = (OperationalError, InterfaceError, InternalError)


class PostgresBroker(Broker):
    def __init__(self, list_key: str | None = None) -> None:
        super().__init__(list_key)
        self.failures = 0
        self.turn = 0
        self.tasks_at = 0.0
        self.bounds: dict[str, tuple[datetime, float]] = {}
        self.asleep: dict[str, float] = {}
        self.full: str | None = None
        self.told = ""

    def __setstate__(self, state: Any) -> None:
        self.__init__(state[0])  # type: ignore[misc]

    # What django-q2's async_task calls: in the caller's transaction, so that what is rolled back
    # was never enqueued.

    def enqueue(self, task: str) -> int:
        refuse_too_large(task)
        with cursor() as db:
            found = db.execute(ENQUEUE, {"key": self.list_key, "payload": task}).fetchone()
        assert found is not None
        return int(found[0])

    # What the pusher calls, in a loop.

    def dequeue(self) -> list[tuple[Any, str]] | None:
        """What is to be done next: one batch, or some tasks; None after a sleep."""
        try:
            return self.next_batch_or_tasks()
        except LOST as lost:
            self.wait_for_the_database(lost)
            return None
        finally:
            close_old_connections()

    def next_batch_or_tasks(self) -> list[tuple[Any, str]] | None:
        if time.monotonic() - self.tasks_at >= LONGEST_SLEEP and (tasks := self.claim_tasks()):
            return tasks
        names = sorted(queue.namespaces())
        wait, began = LONGEST_SLEEP, time.monotonic()
        for place in range(len(names)):
            # Each namespace has the first turn once, so that a busy one starves no other.
            name = names[(place + self.turn) % len(names)]
            # Nor costs an idle one a question with every batch of a busy one.
            if (asleep := self.asleep.get(name, 0.0) - began) > 0:
                wait = min(wait, asleep)
                continue
            low = self.bound(name)
            # After a full batch there is most often another, and the claim finds out by itself.
            seconds = 0.0 if name == self.full else queue.ready_in(name, low=low)
            if seconds is not None and seconds <= 0:
                if batch := queue.claim(name, low=low):
                    self.turn += place + 1
                    self.bounds[name] = (batch.due_at, self.bounds[name][1])
                    self.failures = 0
                    self.full = name if batch.is_full else None
                    return [(("batch", name), self.signed(batch))]
                self.full, seconds = None, 0.01
            seconds = LONGEST_SLEEP if seconds is None else min(seconds, LONGEST_SLEEP)
            self.asleep[name] = began + seconds
            wait = min(wait, seconds)
        self.failures = 0
        # The jitter keeps clusters from asking in step.
        time.sleep(wait * random.uniform(0.8, 1.0))
        return None

    def bound(self, name: str) -> datetime | str:
        """Where the claim may begin to look: past what earlier claims left dead in the index."""
        low, since = self.bounds.get(name, (None, 0.0))
        if low is None or time.monotonic() - since >= BOUND_FOR:
            self.bounds[name] = (LONG_AGO, time.monotonic())
            return queue.FROM_THE_HEAD
        return low

    def claim_tasks(self) -> list[tuple[Any, str]]:
        with cursor() as db:
            found = db.execute(
                CLAIM_TASKS,
                {"key": self.list_key, "limit": 1, "retry": timedelta(seconds=Conf.RETRY)},
            ).fetchall()
        if not found:
            self.tasks_at = time.monotonic()
        return [(("task", id), payload) for id, payload in found]

    @staticmethod
    def signed(batch: queue.Batch) -> str:
        pack: str = SignedPackage.dumps(
            {
                "id": uuid4().hex,
                "name": f"{len(batch.keys)} of {batch.namespace}",
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
        # Once for each reason: it may be back, and read-only.
        if self.failures == 0 or reason != self.told:
            logger.warning("The queue lost its database, trying again: %s", reason)
        self.told = reason
        time.sleep(min(LONGEST_BACKOFF, 0.05 * 2**self.failures) * random.uniform(0.8, 1.0))
        self.failures = min(self.failures + 1, 10)

    # What the monitor calls.

    def acknowledge(self, ack_id: Any) -> None:
        """Forget an ordinary task that is done. Tries until the database answers."""
        kind, id = ack_id
        while kind == "task":
            try:
                with cursor() as db:
                    db.execute(FORGET_TASK, {"id": id})
                return
            except LOST as lost:
                self.wait_for_the_database(lost)

    def fail(self, ack_id: Any) -> None:
        """A message whose signature is bad: a task is forgotten, a batch waits for its lease."""
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
            found = db.execute(COUNT_TASKS, {"key": self.list_key}).fetchone()
        assert found is not None
        return found[0], found[1]

    def purge_queue(self) -> None:
        """Forget the ordinary tasks of this cluster. The namespaces are nobody's to purge."""
        with cursor() as db:
            db.execute("DELETE FROM django_q_ormq WHERE key = %(key)s", {"key": self.list_key})

    delete_queue = purge_queue

    # Heartbeats are rows of their own (trackers.jobs.heartbeats).

    def set_stat(self, key: str, value: str, timeout: int) -> None:
        return None

    def get_stat(self, key: str) -> None:
        return None

    def get_stats(self, pattern: str) -> list[Any]:
        return []
