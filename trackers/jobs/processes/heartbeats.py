"""Heartbeats: which processes are at work, written to the database as rows of `Worker`.

sentinel ── signs of life ──> main ── one statement, every few seconds ──> rows
worker: what it is doing and when it finished, one short statement each.
The sentinel itself never talks to the database here: its guard must not wait for one.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection as own_connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django_q.signals import post_execute_in_worker, pre_execute

from tweetwatch.database import cursor
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_MAX_DOING_LENGTH = 200


@dataclass(frozen=True, slots=True)
class SignOfLife:
    """A living process."""

    kind: str
    pid: int
    since: float  # seconds of CLOCK_MONOTONIC, the same in every process


_BEAT = statement(__file__, "beat")

# Not flushed: losing a heartbeat in a crash of the server costs nothing, waiting for the disk twice
# a batch would. The setting ends with the statement.
_REPORT_WORKER = """
    INSERT INTO trackers_worker AS was
        (cluster, host, pid, kind, started_at, seen_at, doing, doing_since, done_at)
    SELECT %(cluster)s::uuid, %(host)s, %(pid)s::int, 'worker', now(), now(), %(doing)s::text,
        CASE WHEN %(doing)s::text <> '' THEN now() END, CASE WHEN %(done)s::bool THEN now() END
    WHERE set_config('synchronous_commit', 'off', true) = 'off'
    ON CONFLICT (cluster, host, pid) DO UPDATE SET
        seen_at = excluded.seen_at, doing = excluded.doing, doing_since = excluded.doing_since,
        done_at = coalesce(excluded.done_at, was.done_at)
"""

_DELETE_CLUSTER = "DELETE FROM trackers_worker WHERE cluster = %(cluster)s"

_PRUNE_SILENT_CLUSTERS = """
    DELETE FROM trackers_worker WHERE cluster IN (
        SELECT cluster FROM trackers_worker
        GROUP BY cluster HAVING max(seen_at) < now() - interval '1 hour')
"""


def beat(
    connection: BaseDatabaseWrapper,
    cluster: UUID,
    *,
    seen: Sequence[SignOfLife],
    known: Sequence[SignOfLife],
) -> None:
    """Record the processes in `seen` as alive; remove all of this cluster not in `known`."""
    now = time.monotonic()
    parameters: dict[str, Any] = {
        "cluster": cluster,
        "host": socket.gethostname(),
        "kinds": [sign.kind for sign in seen],
        "pids": [sign.pid for sign in seen],
        "ages": [now - sign.since for sign in seen],
        "known": [sign.pid for sign in known],
    }
    with connection.cursor() as cursor:
        cursor.execute(_BEAT, parameters)


def delete_cluster(connection: BaseDatabaseWrapper, cluster: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_CLUSTER, {"cluster": cluster})


def prune_silent_clusters() -> int:
    """Remove the rows of clusters that were silent for an hour; return how many."""
    with own_connection.cursor() as cursor:
        cursor.execute(_PRUNE_SILENT_CLUSTERS)
        return cursor.rowcount


class WorkerReporter:
    """Reports what this worker is doing. Without a database the report is lost, never the task."""

    def __init__(self, cluster: UUID) -> None:
        self._me: dict[str, Any] = {
            "cluster": cluster,
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }
        self._done = self._failed = False

    def listen(self) -> None:
        """Connect to django-q2's signals; in the worker's process only."""
        pre_execute.connect(self._begin, weak=False)
        post_execute_in_worker.connect(self._end, weak=False)

    def rest(self) -> None:
        """Report that the worker is idle."""
        self._report("")

    def _begin(self, task: dict[str, Any], **_: Any) -> None:
        self._report(str(task["name"])[:_MAX_DOING_LENGTH])

    def _end(self, task: dict[str, Any], **_: Any) -> None:
        # Reported with what comes next, a task or idleness: half as many statements under load.
        self._done |= bool(task.get("success"))

    def _report(self, doing: str) -> None:
        try:
            with cursor() as db:
                db.execute(_REPORT_WORKER, {**self._me, "doing": doing, "done": self._done})
        # An error of the report must not reach the task.
        except Exception:
            if not self._failed:
                logger.warning("This worker could not write what it is doing.", exc_info=True)
            self._failed = True
            # The task that follows gets a connection that works, or its own error.
            with suppress(Exception):
                own_connection.close()
        else:
            self._done = self._failed = False
