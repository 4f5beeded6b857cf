"""A Celery task for each webhook, in turn with ours: the same receivers, the same events."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tests.benchmarks.events import names
from tests.benchmarks.events.crowd import Crowd

if TYPE_CHECKING:
    from tests.benchmarks.events.publishing import Run


def missing() -> str:
    """How to install what is not there; empty when all is."""
    if not shutil.which("redis-server"):
        return "apt install redis-server (it need not run)"
    return "" if find_spec("celery") and find_spec("redis") else "pip install celery redis"


def turn(run: Run, broker: str) -> Callable[[], None]:
    os.environ["BENCH_BROKER"] = broker
    from tests.benchmarks.events.celery_app import app, deliver

    begin = len(run.receivers.events())
    callbacks = run.receivers.listen(10)
    to = Crowd("celery", run.receivers, callbacks, range(begin, begin + 10))

    def enqueue_and_receive() -> None:
        begun = time.perf_counter()
        with app.producer_or_acquire() as producer:
            for number in range(run.few):
                event = {
                    "topic": to.topic,
                    "type": "create",
                    "url": f"https://bench.example/{number}",
                    "t": int(1000 * time.time()),
                }
                for url in callbacks:
                    deliver.apply_async((url, event), producer=producer)
        enqueued = time.perf_counter() - begun
        to.published += run.few
        to.wait_until_received()
        run.note(names.CELERY_ENQUEUED, run.few / enqueued)
        run.note(names.CELERY_SINGLE, 10 * run.few / (time.perf_counter() - begun))

    return enqueue_and_receive
