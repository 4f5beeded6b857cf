"""The primary's time and timeline, written each second, since nothing else shows how far a standby
is behind: its own measure grows while nothing is written."""

from __future__ import annotations

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

BEAT_EVERY = 1.0
# By whichever cluster is first. Not waited for: a beat that is lost in a crash was one of many.
_BEAT = """
    INSERT INTO trackers_primarybeat AS was (id, at, timeline)
    SELECT 1, clock_timestamp(),
           ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
    WHERE set_config('synchronous_commit', 'off', true) = 'off'
    ON CONFLICT (id) DO UPDATE SET at = excluded.at, timeline = excluded.timeline
    WHERE was.at < excluded.at - interval '0.5 s'
"""


def is_read_elsewhere() -> bool:
    """Whether this installation has a standby to read."""
    return settings.READ_DATABASE is not None


def beat_of_primary(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as db:
        db.execute(_BEAT)
