"""How the database is doing: each figure with what to do when it is bad; tables and partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trackers.dashboards.charts.small import BarChart
from trackers.dashboards.words import commas, format_bytes, lasting
from trackers.jobs.observed.database import MAX_TABLES_SHOWN, Health, Horizon, PartitionsOf, Table
from trackers.standbys.reading import StandbyNow
from tweetwatch.partitions import DAY_SPAN, STAMP

# Fewer dead rows are no trouble, whatever their share.
_DEAD_WORTH_TELLING = 10_000
# PostgreSQL refuses writes at two thousand million; autovacuum acts at two hundred million.
_XIDS_WARN, _XIDS_BAD = 1_000_000_000, 1_600_000_000
_WAL_MINUTES = 60


@dataclass(frozen=True, slots=True)
class Check:
    label: str
    value: str
    mood: str  # "", "warn" or "bad"
    help: str
    advice: str = ""  # what to do when it is one of these

    @property
    def verdict(self) -> str:
        return {"": "fine", "warn": "watch it", "bad": "act"}[self.mood]


def checks(
    health: Health,
    oldest: Horizon,
    wal: Sequence[int | None],
    standby: StandbyNow | None,
    *,
    now: datetime,
) -> list[Check]:
    return [
        _oldest_transaction(oldest),
        _dead_rows(health),
        _connections(health),
        _wal_written(wal),
        _wal_kept(health),
        *_archiving(health),
        *_standby(standby),
        _transaction_numbers(health),
        *_partitioning(health, now=now),
        _size_check(health),
    ]


def _oldest_transaction(oldest: Horizon) -> Check:
    who = f" ({oldest.who}, pid {oldest.pid})" if oldest.pid else ""
    return Check(
        "Oldest transaction",
        f"{lasting(timedelta(seconds=oldest.seconds))}{who}",
        _mood_above(oldest.seconds, warn=30, bad=300),
        "Rows that have died since it began cannot be removed, so queues and claims get slower.",
        "End what holds it open: a report, a forgotten psql, a backup. By hand: "
        f"SELECT pg_terminate_backend({oldest.pid or 'pid'}).",
    )


def _dead_rows(health: Health) -> Check:
    worst = max(health.tables, key=_dead_share, default=None)
    share = _dead_share(worst) if worst else 0.0
    return Check(
        "Dead rows",
        f"{share:.0%} of {worst.name}" if worst and share else "few",
        _mood_above(share, warn=0.3, bad=0.6),
        "Old versions of rows that vacuum has not removed yet, in the table where they are the "
        "largest share.",
        "Look at the oldest transaction first, which keeps vacuum from removing them. Else run "
        f"VACUUM (ANALYZE) {worst.name if worst else 'the table'}, and give autovacuum more to "
        "spend (autovacuum_vacuum_cost_limit).",
    )


def _connections(health: Health) -> Check:
    taken = health.connections / health.connections_most
    return Check(
        "Connections",
        f"{commas(health.connections)} of {commas(health.connections_most)}",
        _mood_above(taken, warn=0.8, bad=0.95),
        "Open connections of all databases of this server, and how many it allows.",
        "Lower WORKERS or the threads of gunicorn, raise max_connections, or put PgBouncer in "
        "between (docs/postgresql.md).",
    )


def _wal_written(wal: Sequence[int | None]) -> Check:
    known = [written for written in wal if written is not None]
    return Check(
        "WAL written",
        f"{format_bytes(round(sum(known) / len(known)))} a minute" if known else "not known yet",
        "",
        "The server's log of changes, on average over the last hour. Replicas and backups must "
        "keep up with it.",
    )


def _wal_kept(health: Health) -> Check:
    behind = f", kept for the slot {health.slot}" if health.slot else ""
    return Check(
        "WAL kept",
        f"{format_bytes(health.slot_behind)}{behind}"
        if health.slot_behind
        else "none beyond the usual",
        _mood_above(health.slot_behind, warn=health.wal_most, bad=4 * health.wal_most),
        "WAL that a replication slot keeps from being removed. It may fill the disk.",
        f"Let the replica of the slot {health.slot} catch up, or drop the slot if it is not used.",
    )


def _standby(standby: StandbyNow | None) -> Iterator[Check]:
    if standby is None:
        return
    lag = standby.lag_seconds
    yield Check(
        "Standby",
        "not read" if standby.why else f"{lag:.1f} s behind",
        "warn" if standby.why else "",
        "The server of DATABASE_READ_URL, which answers pages that only read.",
        f"{standby.why} Until it is back, the primary answers all pages.",
    )


def _archiving(health: Health) -> Iterator[Check]:
    if health.archiving_fails:
        yield Check(
            "Archiving",
            "fails",
            "bad",
            "WAL that could not be archived is kept, until the disk is full.",
            "Read the server's log, and fix archive_command.",
        )


def _transaction_numbers(health: Health) -> Check:
    return Check(
        "Transaction numbers",
        f"{health.xid_age / 2_000_000_000:.0%} used",
        _mood_above(health.xid_age, warn=_XIDS_WARN, bad=_XIDS_BAD),
        "They wrap around after two billion, unless vacuum freezes old rows first.",
        "End old transactions, and run VACUUM (FREEZE) on the largest tables.",
    )


def _partitioning(health: Health, *, now: datetime) -> Iterator[Check]:
    lacking = [
        partition.table
        for partition in health.partitions
        if not _reaches(partition, now + DAY_SPAN)
    ]
    strays = [partition.stray for partition in health.partitions if partition.stray]
    if lacking:
        yield Check(
            "Partitions",
            f"none for tomorrow: {', '.join(lacking)}",
            "warn",
            "They are made three days ahead. Rows without one go into the default partition, where "
            "they are still found.",
            "Check whether qcluster runs, and whether the task make_partitions fails (below, and "
            "in the admin under Failed tasks).",
        )
    elif strays:
        yield Check(
            "Partitions",
            f"rows in {', '.join(strays)}",
            "",
            "Rows that are older than their table's partitions, as imports bring. They are found "
            "like all others, and are packed within a day.",
        )


def _size_check(health: Health) -> Check:
    return Check(
        "Size",
        f"{format_bytes(health.size)}{_grows(health.grows_a_day)}",
        "",
        "All tables and indexes of this database; PostgreSQL " + health.version.split()[0] + ".",
    )


def _grows(a_day: float | None) -> str:
    if a_day is None:
        return ""
    word = "grows" if a_day >= 0 else "shrinks"
    return f", {word} by {format_bytes(abs(round(a_day)))} a day"


def _mood_above(number: float, *, warn: float, bad: float) -> str:
    return "bad" if number > bad else "warn" if number > warn else ""


def _dead_share(table: Table) -> float:
    if table.dead < _DEAD_WORTH_TELLING:
        return 0.0
    return table.dead / (table.dead + table.live)


def large_tables(health: Health) -> list[tuple[Table, str]]:
    """The largest, each with its mood by its dead rows."""
    return [
        (table, _mood_above(_dead_share(table), warn=0.3, bad=0.6))
        for table in health.tables[:MAX_TABLES_SHOWN]
    ]


def partitions_with_starts(health: Health) -> list[tuple[PartitionsOf, str, str]]:
    """Each table with partitions, and when its first and its last partition begin."""
    return [(of, _start_of(of, of.first), _start_of(of, of.last)) for of in health.partitions]


def _start_of(of: PartitionsOf, name: str | None) -> str:
    """From the name of a partition."""
    at = _beginning(of, name)
    return f"{at:%Y-%m-%d %H:%M}" if at else name or "–"


def _beginning(of: PartitionsOf, name: str | None) -> datetime | None:
    try:
        stamp = (name or "").removeprefix(f"{of.table}_")
        return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def _reaches(of: PartitionsOf, at: datetime) -> bool:
    """Rows of that time have a partition, or are close to one."""
    last = _beginning(of, of.last)
    return last is not None and last + DAY_SPAN > at


def wal_chart(wal: Sequence[tuple[datetime, int | None]], *, now: datetime) -> BarChart:
    by_minute = dict(wal)
    last = now.replace(second=0, microsecond=0)
    minutes = [last - timedelta(minutes=back) for back in range(_WAL_MINUTES - 1, -1, -1)]
    values = [by_minute.get(at) for at in minutes]
    most = max((written for written in values if written is not None), default=0)
    return BarChart(values, f"WAL written a minute: at most {format_bytes(most)}")
