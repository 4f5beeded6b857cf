"""Which batches a worker has begun: when a lease runs out, only their keys may get a strike.

claimed ─> waits for a worker ─> begun: a mark ─> its task ─┬─> saved: the mark goes, and the other
                                                            │   marks learn that one could save
                                                            └─> the database failed: by `Fault`

A cluster claims ahead of its workers. When it is killed, the batches that no worker had begun are
not to blame; nor is any batch while nobody could save (`blamed` in sql/claim.sql). Where the
database failed it depends on the kind of fault:

- the server (a full disk): no strike, and the queue is held;
- the schema (a missing column): the queue is held, and the keys stay claimed. They get a strike
  only if others of the queue are saved before their lease ends: then it was these values;
- a conflict (a deadlock): no strike and no hold; due again after a short wait.

After a hold one request at a time tries whether the database can save again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import DatabaseError, InterfaceError, connection
from django_q.signals import post_execute_in_worker

from trackers.jobs import holds, queue
from trackers.jobs.observed import tasks as noted
from trackers.jobs.queue import Batch
from trackers.jobs.tables import job_class
from tweetwatch.database import LOST, Fault, cursor, fault_of, why_lost
from tweetwatch.log_lines import working_on

logger = logging.getLogger(__name__)

# Long enough for keys to keep their strike while a person has paused the queue.
_KEEP_MARKS_FOR = timedelta(days=7)

# Returns no row when the lease has run out: others may have the keys by now. Not flushed: a mark
# that is lost in a crash of the database only means one strike less.
_MARK_BEGUN = """
    WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
    ended AS (
        DELETE FROM trackers_begunbatch
        WHERE lease = ANY(%(ended)s::bigint[]) AND lease <> %(lease)s
    )
    INSERT INTO trackers_begunbatch (lease, queue, claimed_at, expires_at)
    SELECT %(lease)s, %(queue)s, coalesce(%(claimed_at)s::timestamptz, now()), %(expires_at)s
    FROM quick WHERE %(expires_at)s::timestamptz > now()
    ON CONFLICT (lease) DO UPDATE SET expires_at = excluded.expires_at
    RETURNING (SELECT save_failures > 0 FROM trackers_queue WHERE name = %(queue)s)
"""

# The own mark goes first, and only then are others locked, which skips those of whoever does the
# same: so two never wait for each other. A mark that is skipped learns it from the next batch.
_END_BATCH = """
    WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
    ended AS MATERIALIZED (
        DELETE FROM trackers_begunbatch WHERE lease = ANY(%(ended)s::bigint[]) RETURNING lease
    ),
    unknowing AS MATERIALIZED (
        SELECT lease FROM trackers_begunbatch
        WHERE (SELECT count(*) FROM ended) >= 0 AND %(saved)s
          AND claimed_at <= now() AND expires_at > now() AND lease <> ALL(%(ended)s::bigint[])
          AND NOT CASE WHEN queue = %(queue)s THEN queue_saved ELSE others_saved END
        FOR UPDATE SKIP LOCKED
    )
    UPDATE trackers_begunbatch mark
    SET queue_saved = queue_saved OR queue = %(queue)s,
        others_saved = others_saved OR queue <> %(queue)s
    FROM quick
    WHERE lease IN (SELECT lease FROM unknowing)
"""

# What was saved before the database failed proves nothing. Nor do other queues, whose statements
# are others: NULL is never made true.
_BEGIN_ANEW = """
    UPDATE trackers_begunbatch SET claimed_at = now(), queue_saved = false, others_saved = NULL
    WHERE lease = %(lease)s
"""

_PRUNE_MARKS = "DELETE FROM trackers_begunbatch WHERE expires_at < now() - %(kept_for)s"

# Leases of batches that ended and whose marks are still there: the database could not be reached.
ended_leases: list[int] = []

# It returns False if it saved nothing, as where X could not be asked.
Task = Callable[[Batch], bool | None]


def marks_begun(task: Task) -> Callable[[Batch], None]:
    """Make the task mark its batch as begun; a batch whose lease has run out is skipped.

    A task that raises or is killed leaves its mark.
    """

    @wraps(task)
    def begun(batch: Batch) -> None:
        is_trial = mark_begun(batch)
        if is_trial is None:
            logger.info(
                "left %d keys of %s alone: their lease had expired before a worker was free",
                len(batch.keys),
                batch.queue,
            )
            return
        if is_trial and not holds.begin_trial(batch.queue, until=batch.expires_at):
            holds.wait_for_trial(batch.queue)
            queue.release_in_place(batch)
            _end_batch(batch, saved=False)
            return
        if is_trial:
            batch = _first_request(batch)
        saved = False
        try:
            with working_on(task=batch.queue, keys=len(batch.keys)):
                saved = task(batch) is not False
        except (DatabaseError, InterfaceError) as error:
            if fault := fault_of(error):
                _end_failed(batch, error, fault)
                return
            if isinstance(error, LOST) and not _is_reachable():
                ended_leases.append(batch.lease)
            raise
        if is_trial:
            holds.end_trial(batch.queue, saved=saved)
        _end_batch(batch, saved=saved)

    return begun


def mark_begun(batch: Batch) -> bool | None:
    """Mark the batch as begun, and remove old marks; None: its lease has run out.

    True: what the last batches of this queue brought could not be saved.
    """
    params = {
        "lease": batch.lease,
        "queue": batch.queue,
        "claimed_at": batch.claimed_at,
        "expires_at": batch.expires_at,
        "ended": ended_leases,
    }
    with cursor() as db:
        row = db.execute(_MARK_BEGUN, params).fetchone()
    ended_leases.clear()
    return None if row is None else bool(row[0])


def _end_batch(batch: Batch, *, saved: bool) -> None:
    """Remove its mark; `saved`: and tell the others that a batch could be saved."""
    ended_leases.append(batch.lease)
    try:
        _write_end(batch.queue, saved=saved)
    except LOST:
        # All that matters is done. The next batch removes the mark.
        connection.close()


def _write_end(name: str, *, saved: bool) -> None:
    with cursor() as db:
        db.execute(_END_BATCH, {"ended": ended_leases, "queue": name, "saved": saved})
    ended_leases.clear()


def _first_request(batch: Batch) -> Batch:
    """As many keys as one request has; the others go back to their place."""
    size = job_class(batch.queue).request_keys or len(batch.keys)
    queue.release_in_place(batch.only(batch.keys[size:]))
    return batch.only(batch.keys[:size])


def _end_failed(batch: Batch, error: Exception, fault: Fault) -> None:
    """End a batch that the database could not save, for that kind of fault."""
    why = why_lost(error)
    logger.error(
        "%d keys of %s could not be saved: %s",
        len(batch.keys),
        batch.queue,
        why,
        # Only a traceback tells a fault of ours from a database that is not migrated.
        exc_info=fault is Fault.SCHEMA,
    )
    noted.failed_because(f"The database could not save: {why}")
    # Its mark goes, now or with the next batch, unless it is begun anew.
    ended_leases.append(batch.lease)
    try:
        match fault:
            case Fault.CONFLICT:
                queue.release(batch, holds.first_wait(batch.queue))
                # If it was the one that tried, another may.
                holds.end_trial(batch.queue, saved=False)
            case Fault.SERVER:
                holds.record_failed_save(batch.queue, fault, why=why)
                queue.release_in_place(batch)
            case Fault.SCHEMA:
                holds.record_failed_save(batch.queue, fault, why=why)
                with cursor() as db:
                    db.execute(_BEGIN_ANEW, {"lease": batch.lease})
                ended_leases.remove(batch.lease)
        _write_end(batch.queue, saved=False)
    except (DatabaseError, InterfaceError):
        # It cannot write this either: the keys are due again when their lease has run out.
        connection.close()


def _is_reachable() -> bool:
    """Whether the database accepts a new connection."""
    connection.close()
    try:
        connection.ensure_connection()
    except LOST:
        return False
    return True


def note_ordinary_task(task: dict[str, Any], **_: Any) -> None:
    """An ordinary task that is done shows that others could work, as a batch does."""
    args = task.get("args") or ()
    if task.get("success") and not (args and isinstance(args[0], Batch)):
        try:
            _write_end("", saved=True)
        except (DatabaseError, InterfaceError):
            connection.close()


def listen() -> None:
    """Connect to django-q2's signal; in the worker's process only."""
    post_execute_in_worker.connect(note_ordinary_task, weak=False)


def prune_marks() -> int:
    """Remove the marks of workers that died a week ago; return how many."""
    with cursor() as db:
        return db.execute(_PRUNE_MARKS, {"kept_for": _KEEP_MARKS_FOR}).rowcount
