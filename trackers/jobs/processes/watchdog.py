"""Notices when a cluster is alive but does nothing, whatever the reason.

database ─ read ─> what is overdue, last done ─ Watchdog remembers since when ─> State ─> barks
A bark ends the whole cluster with status 1, so that systemd or compose restarts it; nothing is
lost, as leases run out. This is the safety net below our fixes to django-q2.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from trackers.jobs.models import Job

# After a longer gap between two readings (a suspended machine, a database that was away) what was
# seen before no longer counts.
_BLIND_AFTER = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class DueQueue:
    """The oldest due key of a queue that is neither paused nor held."""

    name: str
    lease: timedelta
    oldest_due_at: datetime


@dataclass(frozen=True, slots=True)
class DueReading:
    now: datetime
    last_done_at: datetime | None
    due: tuple[DueQueue, ...]


@dataclass(frozen=True, slots=True)
class OverdueQueue:
    name: str
    lease: timedelta
    oldest_due_at: datetime
    # Since when every reading found this queue free and with something due. Without it a queue that
    # is resumed after an hour, or old rows that arrive in bulk, would look like an hour of
    # idleness.
    overdue_since: datetime


@dataclass(frozen=True, slots=True)
class ClusterState:
    """All times by the database's clock."""

    now: datetime
    cluster_started_at: datetime
    last_done_at: datetime | None  # None if nothing has been finished yet
    overdue: tuple[OverdueQueue, ...]


def barks(state: ClusterState) -> str | None:
    """A sentence when this cluster has work overdue, could do it, and did none for two leases."""
    idle_since = state.last_done_at or state.cluster_started_at
    for queue in state.overdue:
        latest = max(state.cluster_started_at, idle_since, queue.oldest_due_at, queue.overdue_since)
        if state.now - latest >= 2 * queue.lease:
            return (
                f"{queue.name} has had work due since {queue.oldest_due_at:%Y-%m-%d %H:%M:%S}, "
                f"and this cluster has finished nothing since {idle_since:%Y-%m-%d %H:%M:%S}. It "
                "stops."
            )
    return None


class Watchdog:
    """Remembers between readings; ending the cluster is left to the caller."""

    def __init__(self, cluster: UUID) -> None:
        self._cluster = cluster
        self._started_at: datetime | None = None
        self._read_at: datetime | None = None
        self._overdue_since: dict[str, datetime] = {}

    def look(self, connection: BaseDatabaseWrapper) -> str | None:
        """Read and judge; raises whatever the database raises."""
        return barks(self.remember(read_due_queues(connection, self._cluster)))

    def remember(self, reading: DueReading) -> ClusterState:
        now = reading.now
        if self._read_at is None or not timedelta(0) <= now - self._read_at <= _BLIND_AFTER:
            self._overdue_since = {}
        self._read_at = now
        self._started_at = self._started_at or now
        self._overdue_since = {
            due.name: self._overdue_since.get(due.name, now) for due in reading.due
        }
        overdue = tuple(
            OverdueQueue(due.name, due.lease, due.oldest_due_at, self._overdue_since[due.name])
            for due in reading.due
        )
        return ClusterState(now, self._started_at, reading.last_done_at, overdue)


# LEFT JOIN: a row with the time comes back even when nothing is due.
_READ_DUE_QUEUES = """
    SELECT now(), (SELECT max(done_at) FROM trackers_worker WHERE cluster = %(cluster)s),
        due.name, due.lease, due.due_at
    FROM (SELECT 1) AS one LEFT JOIN ({due}) AS due ON true
"""

# Of the buckets, by their index on due_at: jobs have none. A claimed bucket is due when its lease
# ends, so a bucket that is due in the past is not claimed.
_OLDEST_DUE = """
    SELECT queue.name, queue.lease, oldest.due_at
    FROM trackers_queue AS queue
    CROSS JOIN LATERAL (SELECT due_at FROM {buckets} ORDER BY due_at LIMIT 1) AS oldest
    WHERE queue.name = {name} AND NOT queue.paused
        AND (queue.held_until IS NULL OR queue.held_until <= now())
        AND oldest.due_at <= now()
"""

_NOTHING_DUE = "SELECT NULL::text AS name, NULL::interval AS lease, NULL::timestamptz AS due_at"


def read_due_queues(connection: BaseDatabaseWrapper, cluster: UUID) -> DueReading:
    """What is due in the queues' tables, and when this cluster last finished something."""
    with connection.cursor() as cursor:
        cursor.execute(due_queues_statement(), {"cluster": cluster})
        rows = cursor.fetchall()
    now, last_done_at = rows[0][:2]
    return DueReading(
        now, last_done_at, tuple(DueQueue(*row[2:]) for row in rows if row[2] is not None)
    )


def due_queues_statement() -> sql.Composed:
    parts: list[sql.Composable] = [
        sql.SQL(_OLDEST_DUE).format(
            buckets=sql.Identifier(table.bucket._meta.db_table), name=table.queue
        )
        for table in Job.__subclasses__()
    ]
    due = sql.SQL(" UNION ALL ").join(parts or [sql.SQL(_NOTHING_DUE)])
    return sql.SQL(_READ_DUE_QUEUES).format(due=due)
