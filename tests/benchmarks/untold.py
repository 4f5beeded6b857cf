"""What events cost the save while nobody subscribes: PostgreSQL's CPU for the product's statement,
and for the same one without its events, in turn. `python -m tests.benchmarks.untold ROUNDS`.

Linux tells the time on a processor of the server's own process; None where that runs elsewhere.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django
import psycopg

from tests.benchmarks.limit_process import Precomputed

# Claims of a round, for each of the two.
BATCHES = 20
PATIENCE = 30.0
NOTHING = "untold AS (SELECT 1)"


def save_without_events() -> Any:
    """The statement as it is made where nothing of events stands in it."""
    from trackers.tweets import record

    spec = find_spec("trackers.updater.save")
    assert spec
    assert spec.loader
    again = module_from_spec(spec)
    with patch.object(record, "_RECORD_EVENTS", NOTHING):
        spec.loader.exec_module(again)
    return again.SAVE


def on_processor(pid: int) -> int | None:
    """Nanoseconds that a process has had a processor."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    except OSError:
        return None


def main(rounds: int) -> None:
    django.setup()
    from trackers.jobs import queue
    from trackers.jobs.models import TWEET_UPDATE
    from trackers.updater.save import SAVE

    answers = [Precomputed(1 + number) for number in range(2 * BATCHES)]
    fields = {
        "queue": TWEET_UPDATE, "limit": None, "buffer_ttl": None, "connected": queue.ALWAYS,
        "low_urgent": queue.FROM_THE_HEAD, "low": queue.FROM_THE_HEAD,
    }  # fmt: skip
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=1) as db:
        claim = queue.on(TWEET_UPDATE, queue.CLAIM_BATCH)
        cursor, pid = db.cursor(), db.info.backend_pid
        statements = {"with": SAVE.on(cursor), "without": save_without_events().on(cursor)}
        assert "trackers_event" in statements["with"]
        assert "trackers_event" not in statements["without"]

        def save(name: str, number: int) -> float:
            """Nanoseconds of processor for each tweet."""
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                lease = secrets.randbits(63)
                claimed = cursor.execute(claim, {**fields, "token": lease}).fetchone()
                if claimed and claimed[0] and len(claimed[0]) % 100 == 0:
                    values = answers[number].of(claimed[0], lease=lease)
                    begun = on_processor(pid)
                    cursor.execute(statements[name], values)
                    ended = on_processor(pid)
                    assert begun is not None
                    assert ended is not None
                    return (ended - begun) / len(claimed[0])
                time.sleep(0.05)
            raise RuntimeError(f"After {PATIENCE:g} s still nothing to save.")

        timings: dict[str, list[float]] | None = {name: [] for name in statements}
        if on_processor(pid) is None:
            timings = None
        else:
            # The first ones are planned, and touch what nobody has touched.
            for number in range(-1, rounds):
                spent = dict.fromkeys(statements, 0.0)
                for batch in range(BATCHES):
                    for name in list(statements)[:: -1 if batch % 2 else 1]:
                        spent[name] += save(name, (batch + (number % 2) * BATCHES)) / BATCHES
                for name, nanoseconds in spent.items():
                    if number >= 0:
                        timings[name].append(nanoseconds / 1000)
    print(json.dumps(timings))


if __name__ == "__main__":
    main(int(sys.argv[1]))
