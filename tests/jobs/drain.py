"""A process that claims and finishes until the queue is empty: `python -m tests.jobs.drain`.

Says each claimed key in a line. A key below 10,000 comes back once, as itself plus 10,000.
"""

import os
import time
from datetime import timedelta

NAME = "tweet:update"
OFFSET = 10_000


def main():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
    import django

    django.setup()
    from trackers.jobs import queue

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        batch = queue.get(NAME, 50)
        if batch is None and queue.ready_in(NAME) is None:
            return
        if batch is not None:
            print(*batch.keys, sep="\n")
            first = [key for key in batch.keys if key < OFFSET]
            queue.schedule_many(NAME, ((key + OFFSET, timedelta(0)) for key in first))
            assert queue.finish(batch, {}) == set(batch.keys)


if __name__ == "__main__":
    main()
