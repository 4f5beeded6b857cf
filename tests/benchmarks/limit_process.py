"""One process of `limit`: the product's claim and save through psycopg, and nothing around them.

Says when it is at work, runs until SIGTERM, then prints what it saved. The answers are made
beforehand.
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
AT_WORK = "at work"


class Precomputed:
    """Parameters of a save of hundreds; ids, lease, stamp and time are still open."""

    def __init__(self, number: int) -> None:
        from trackers.jobs.queue import Batch
        from trackers.schedule.intervals import Plan, Tier
        from trackers.updater.save import Judged, save_params
        from trackers.xapi.results import Shown

        ids = tuple(range(10**17, 10**17 + 100))
        now = datetime.now(UTC)
        batch = Batch(lease=1, keys=ids, due_at=now, expires_at=now)
        counts = (number, number, number + 7, 3, 5, 1000 + number)
        shown = Shown(ids, tuple([count] * 100 for count in counts), None)
        plan = Plan((Tier(timedelta(days=10_000), timedelta(seconds=1)),))
        self.given: dict[str, Any] = save_params(batch, [Judged(shown, at=now)], plan)
        # An array of a hundred, to be repeated.
        self.hundreds = {
            name: value.strip("{}")
            for name in ("request", "rt", "re", "li", "qu", "bo", "vi")
            if isinstance(value := self.given[name], str)
        }

    def of(self, keys: list[int], *, lease: int) -> dict[str, Any]:
        times = len(keys) // 100
        arrays = {
            name: "{" + ",".join([hundred] * times) + "}" for name, hundred in self.hundreds.items()
        }
        ids = "{" + ",".join(map(str, keys)) + "}"
        new = {
            "ids": ids,
            "lease": lease,
            "stamp": secrets.randbits(62),
            "ats": [datetime.now(UTC)],
        }
        return {**self.given, **arrays, **new}


class Counts:
    saved = batches = refused = 0
    claiming = saving = 0.0


def main() -> None:
    django.setup()
    from trackers.jobs import queue
    from trackers.jobs.models import TWEET_UPDATE
    from trackers.updater.save import SAVE

    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    answers = [Precomputed(1 + number) for number in range(DIFFERENT)]
    counts = Counts()
    low = queue.FROM_THE_HEAD
    looked_at = time.monotonic()
    with psycopg.connect(
        os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=3
    ) as connection:
        claim = queue.on(TWEET_UPDATE, queue.CLAIM_BATCH)
        cursor = connection.cursor()
        save = SAVE.on(cursor)
        turn = os.getpid()
        print(AT_WORK, flush=True)
        while not stopped:
            if time.monotonic() - looked_at > LOOK_FROM_THE_HEAD_EVERY:
                low, looked_at = queue.FROM_THE_HEAD, time.monotonic()
            lease = secrets.randbits(63)
            fields = {
                "queue": TWEET_UPDATE, "limit": None, "buffer_ttl": None, "connected": queue.ALWAYS,
                "low_urgent": queue.FROM_THE_HEAD,
            }  # fmt: skip
            begun = time.perf_counter()
            batch = cursor.execute(claim, {**fields, "low": low, "token": lease}).fetchone()
            claimed = time.perf_counter()
            counts.claiming += claimed - begun
            if batch is None or batch[0] is None:
                time.sleep(0.01)
                continue
            keys, low = batch[0], batch[1]
            if len(keys) % 100:
                # Another number of rows than was prepared: they are due again after their lease.
                counts.refused += len(keys)
                continue
            turn += 1
            row = cursor.execute(save, answers[turn % DIFFERENT].of(keys, lease=lease)).fetchone()
            counts.saving += time.perf_counter() - claimed
            counts.saved += len(row[0] or ()) if row else 0
            counts.batches += len(keys) // 100
    names = ("saved", "batches", "refused", "claiming", "saving")
    told = {name: getattr(counts, name) for name in names}
    print(json.dumps({**told, "cpu": time.process_time()}), flush=True)


if __name__ == "__main__":
    main()
