"""One process of `limit`: the product's claim and save through psycopg, and nothing around them.

Runs until SIGTERM, then prints what it saved. The answers are made beforehand.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import django
import psycopg

LOOK_FROM_THE_HEAD_EVERY = 1.0
DIFFERENT = 500


class Precomputed:
    """Parameters of a full batch's save, of which only ids, lease and time are still open."""

    def __init__(self, number: int) -> None:
        from trackers.jobs.queue import Batch
        from trackers.updater.promote import Verdict
        from trackers.updater.save import columns
        from trackers.xapi.answers import Figures
        from tweetwatch.database import array

        ids = tuple(range(10**17, 10**17 + 100))
        now = datetime.now(UTC)
        batch = Batch(lease=1, keys=ids, due_at=now, expires_at=now)
        figures = Figures(number, number, number + 7, 3, 5, 1000 + number)
        second = timedelta(seconds=1)
        verdicts = [
            Verdict(id, due_in=second, figures=figures, hole_after=2 * second) for id in ids
        ]
        self.given: dict[str, Any] = columns(batch, verdicts, at=now)
        written = array(ids)
        self.ids = [name for name, value in self.given.items() if value in (written, list(ids))]

    def of(self, keys: list[int], *, lease: int) -> dict[str, Any]:
        text = "{" + ",".join(map(str, keys)) + "}"
        ids = dict.fromkeys(self.ids, text)
        return {**self.given, **ids, "lease": lease, "at": datetime.now(UTC)}


class Counts:
    saved = batches = refused = 0
    claiming = saving = 0.0


def main() -> None:
    django.setup()
    from trackers.jobs import queue
    from trackers.schedule.namespace import TWEET_UPDATE
    from trackers.updater.save import SAVE

    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    answers = [Precomputed(1 + number) for number in range(DIFFERENT)]
    counts = Counts()
    low: datetime | str = "-infinity"
    looked_at = time.monotonic()
    with psycopg.connect(
        os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=3
    ) as connection:
        claim = queue.on(TWEET_UPDATE, queue.CLAIM).as_string(connection)
        cursor = connection.cursor()
        turn = os.getpid()
        while not stopped:
            if time.monotonic() - looked_at > LOOK_FROM_THE_HEAD_EVERY:
                low, looked_at = "-infinity", time.monotonic()
            lease = secrets.randbits(63)
            given = {"namespace": TWEET_UPDATE, "limit": None, "buffer_ttl": None}
            begun = time.perf_counter()
            found = cursor.execute(claim, {**given, "low": low, "token": lease}).fetchone()
            claimed = time.perf_counter()
            counts.claiming += claimed - begun
            if found is None or found[0] is None:
                time.sleep(0.01)
                continue
            keys, low = found[0], found[1]
            if len(keys) < 100:
                # Another number of rows than was prepared: they are due again after their lease.
                counts.refused += len(keys)
                continue
            turn += 1
            rows = cursor.execute(SAVE, answers[turn % DIFFERENT].of(keys, lease=lease)).fetchall()
            counts.saving += time.perf_counter() - claimed
            counts.saved += len(rows)
            counts.batches += 1
    names = ("saved", "batches", "refused", "claiming", "saving")
    told = {name: getattr(counts, name) for name in names}
    print(json.dumps({**told, "cpu": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
