"""Lines that could not be read, reported in the log once a minute at most."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from trackers.ingest.stream.lines import StreamBatch

logger = logging.getLogger(__name__)

_EVERY_SECONDS = 60.0


@dataclass(slots=True)
class GarbledLog:
    count: int = 0
    logged_at: float = float("-inf")

    def add(self, batch: StreamBatch) -> None:
        self.count += batch.garbled
        if not batch.garbled or time.monotonic() - self.logged_at < _EVERY_SECONDS:
            return
        logger.warning(
            "lines of the stream that could not be read: %d (%s); search looks for what they held",
            self.count,
            batch.why,
        )
        self.count, self.logged_at = 0, time.monotonic()
