"""`manage.py stream`: listens to X's filtered stream for the sources that are rules of it."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from trackers.ingest.stream import Listening
from trackers.ingest.stream_connection import Settings
from trackers.ingest.stream_rules import Asking
from trackers.ingest.stream_store import Margins


class Command(BaseCommand):
    help = (
        "Listen to X's filtered stream and track what the rules of the sources match. One process "
        "does; others stand by and take over. Ctrl-C ends it, once what was read is stored."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        listening = Listening(
            Settings(
                Asking(settings.X_API_BASE_URL, settings.REQUEST_TIMEOUT, settings.STREAM_SILENCE),
                Margins(settings.STREAM_LATE_BY, settings.STREAM_ACTS_AFTER),
            ),
            tell=self.tell,
        )

        def end(number: int, _frame: FrameType | None) -> None:
            # The second time it ends at once; the hole becomes a gap with the next start.
            signal.signal(number, signal.SIG_DFL)
            listening.stop.set()

        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, end)
        listening.run()
        self.tell("ended")

    def tell(self, sentence: str) -> None:
        self.stderr.write(f"stream: {sentence}")
        sys.stderr.flush()
