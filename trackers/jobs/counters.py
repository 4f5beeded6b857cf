"""What was done, by worker and minute: written once a batch, read by status and the pages."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from tweetwatch.database import cursor
from tweetwatch.statements import statement

_COUNT_BATCH = statement(__file__, "count_batch")

_HOST = socket.gethostname()


@dataclass(frozen=True, slots=True)
class BatchDone:
    """What one batch came to."""

    requests: int = 1  # how many its keys went out in, which is what `QueueCounters.batches` counts
    asked: int = 0
    measured: int = 0
    changed: int = 0
    missing: int = 0
    failed: int = 0
    late: Sequence[int] = ()  # keys by the classes of `QueueCounters.LATENESS`


def count_batch(queue: str, done: BatchDone) -> None:
    with cursor() as db:
        db.execute(
            _COUNT_BATCH,
            {
                "queue": queue,
                "host": _HOST,
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
