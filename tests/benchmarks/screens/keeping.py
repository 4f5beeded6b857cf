"""What a cluster's main process does for the pages all the time: it takes their figures."""

from __future__ import annotations

import time

from trackers import tasks


def main() -> None:
    while True:
        tasks.record_statistics()
        time.sleep(2)
