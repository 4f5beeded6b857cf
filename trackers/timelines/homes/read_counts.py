"""Counts how pages of homes were answered: from what is built, or from the sources.

Counted per thread, and added to the day's rows at most once a second, so that pages cost no more.
A process that is killed loses the counts of its last second.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from trackers.timelines.models import HomeReads
from tweetwatch.database import array, compact_sql, cursor

_ADDED_EVERY = 1.0
_READS_KEPT_FOR = timedelta(days=90)

# In the same order everywhere, to avoid deadlocks. Not flushed: a crash may lose it.
_ADD = compact_sql("""
    INSERT INTO trackers_homereads AS r (day, served_by, pages)
    SELECT (now() AT TIME ZONE 'UTC')::date, served_by, pages
    FROM unnest(%(served_by)s::text[], %(pages)s::bigint[]) AS counted(served_by, pages)
    WHERE set_config('synchronous_commit', 'off', true) <> ''
    ORDER BY served_by
    ON CONFLICT (day, served_by) DO UPDATE SET pages = r.pages + excluded.pages
""")


class Pending(threading.local):
    """What this thread has counted but not added yet."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.added_at = -_ADDED_EVERY


pending = Pending()


def count_read(served_by: str) -> None:
    pending.counts[served_by] += 1
    # Within a caller's transaction the day's row would stay locked until its end.
    if time.monotonic() - pending.added_at >= _ADDED_EVERY and not connection.in_atomic_block:
        add_pending()


def add_pending() -> None:
    counts, pending.counts = pending.counts, Counter()
    pending.added_at = time.monotonic()
    params = {"served_by": array(f'"{name}"' for name in counts), "pages": array(counts.values())}
    with cursor() as db:
        db.execute(_ADD, params)


def prune_home_reads() -> int:
    return HomeReads.objects.filter(day__lt=timezone.now().date() - _READS_KEPT_FOR).delete()[0]
