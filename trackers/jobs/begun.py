"""Which batches a worker has begun: when a lease runs out, only their keys get a strike.

claimed ─> waits for a worker ─> begun: a mark ─> its task ─> over: the mark goes with the next one

A cluster claims ahead of its workers. When it is killed, the batches that no worker had begun are
not to blame.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import wraps

from django.db import connection

from trackers.jobs.queue import Batch
from tweetwatch.database import LOST, cursor
from tweetwatch.log_lines import working_on

logger = logging.getLogger(__name__)

# Long enough for keys to keep their strike while a person has paused the queue.
_KEEP_MARKS_FOR = timedelta(days=7)

# Returns no row when the lease has run out: others may have the keys by now. Not flushed: a mark
# that is lost in a crash of the database only means one strike less.
_MARK_BEGUN = """
    WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
    over AS (
        DELETE FROM trackers_begunbatch
        WHERE lease = ANY(%(over)s::bigint[]) AND lease <> %(lease)s
    )
    INSERT INTO trackers_begunbatch (lease, expires_at)
    SELECT %(lease)s, %(expires_at)s FROM quick WHERE %(expires_at)s::timestamptz > now()
    ON CONFLICT (lease) DO UPDATE SET expires_at = excluded.expires_at
    RETURNING lease
"""

_PRUNE_MARKS = "DELETE FROM trackers_begunbatch WHERE expires_at < now() - %(kept_for)s"

# Leases of batches that this process is done with; the next batch removes their marks.
done_leases: list[int] = []

Task = Callable[[Batch], None]


def marks_begun(task: Task) -> Task:
    """Make the task mark its batch as begun; a batch whose lease has run out is skipped.

    A task that raises or is killed leaves its mark, so its keys get a strike. Not when the database
    cannot be reached, which is no key's fault; unless it is away until the lease runs out, and the
    keys are claimed again before this process begins another batch.
    """

    @wraps(task)
    def begun(batch: Batch) -> None:
        if not mark_begun(batch):
            logger.info(
                "left %d keys of %s alone: their lease had expired before a worker was free",
                len(batch.keys),
                batch.queue,
            )
            return
        try:
            with working_on(task=batch.queue, keys=len(batch.keys)):
                task(batch)
        except LOST:
            if not _is_reachable():
                done_leases.append(batch.lease)
            raise
        done_leases.append(batch.lease)

    return begun


def mark_begun(batch: Batch) -> bool:
    """Mark the batch as begun, and remove old marks; False: its lease has run out."""
    params = {"lease": batch.lease, "expires_at": batch.expires_at, "over": done_leases}
    with cursor() as db:
        is_ours = db.execute(_MARK_BEGUN, params).fetchone() is not None
    done_leases.clear()
    return is_ours


def _is_reachable() -> bool:
    """Whether the database accepts a new connection."""
    connection.close()
    try:
        connection.ensure_connection()
    except LOST:
        return False
    return True


def prune_marks() -> int:
    """Remove the marks of workers that died a week ago; return how many."""
    with cursor() as db:
        return db.execute(_PRUNE_MARKS, {"kept_for": _KEEP_MARKS_FOR}).rowcount
