"""What was done, by worker and minute: written once a batch, read by status and the pages."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from tweetwatch.database import cursor

# A row per process, so that no two ever wait for each other. Not flushed: a crash of the database
# may lose the last counts, and nothing depends on them.
COUNT = """
    INSERT INTO trackers_tally AS tally (namespace, minute, host, pid, batches, asked, measured,
                                         changed, missing, failed, late)
    SELECT %(namespace)s, date_trunc('minute', now()), %(host)s, %(pid)s, %(requests)s, %(asked)s,
           %(measured)s, %(changed)s, %(missing)s, %(failed)s, to_jsonb(%(late)s::int[])
    FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
    ON CONFLICT (minute, namespace, host, pid) DO UPDATE SET
        batches = tally.batches + excluded.batches, asked = tally.asked + excluded.asked,
        measured = tally.measured + excluded.measured, changed = tally.changed + excluded.changed,
        missing = tally.missing + excluded.missing, failed = tally.failed + excluded.failed,
        late = (SELECT coalesce(jsonb_agg(coalesce(mine::int, 0) + coalesce(new::int, 0)
                                          ORDER BY place), '[]')
                FROM ROWS FROM (jsonb_array_elements_text(tally.late),
                                jsonb_array_elements_text(excluded.late))
                     WITH ORDINALITY AS counts(mine, new, place))
"""

HOST = socket.gethostname()


@dataclass(frozen=True, slots=True)
class BatchDone:
    """Figures of one batch. `late` counts its keys in the classes of `Tally.LATENESS`. `requests`:
    how many requests its keys went out in, which is what `Tally.batches` counts."""

    requests: int = 1
    asked: int = 0
    measured: int = 0
    changed: int = 0
    missing: int = 0
    failed: int = 0
    late: Sequence[int] = ()


def count(namespace: str, done: BatchDone) -> None:
    with cursor() as db:
        db.execute(
            COUNT,
            {
                "namespace": namespace,
                "host": HOST,
                "pid": os.getpid(),
                "requests": done.requests,
                "asked": done.asked,
                "measured": done.measured,
                "changed": done.changed,
                "missing": done.missing,
                "failed": done.failed,
                "late": list(done.late),
            },
        )
