"""A worker's part in homes, as a process: delivers and lays out, until nothing is due."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tweetwatch.settings")
django.setup()

from trackers import tasks  # noqa: E402
from trackers.jobs import queue  # noqa: E402

TASKS = {
    "timeline:deliver": tasks.deliver_arrivals,
    "timeline:rebuild": tasks.rebuild_homes,
}

if __name__ == "__main__":
    while batches := [batch for name in TASKS if (batch := queue.get(name, 1))]:
        for batch in batches:
            TASKS[batch.queue](batch)
