"""`manage.py stream`: listens to X's filtered stream for the sources that are its rules."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from trackers.history import by_command
from trackers.ingest.stream.lease import take_new_mark
from trackers.ingest.stream.listening import Listening
from trackers.ingest.stream.settings import Margins, RuleAsking, Settings
from trackers.management.pageless import PagelessCommand
from tweetwatch.schema import wait_for_fitting_database


class Command(PagelessCommand):
    help = (
        "Listen to X's filtered stream and track what the rules of the sources match. One process "
        "listens; others stand by to take over. Ctrl-C stops it once everything read is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--new-mark",
            action="store_true",
            help="for a copy of another installation's database: choose a new mark for the tags "
            "of its rules, so that it leaves the other's rules alone, then exit",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["new_mark"]:
            self.take_new_mark()
        else:
            self.listen()

    def take_new_mark(self) -> None:
        done = take_new_mark(by_command())
        if not done.is_done:
            raise CommandError(done.message)
        self.report(done.message)

    def listen(self) -> None:
        wait_for_fitting_database()
        listening = Listening(
            Settings(
                RuleAsking(
                    settings.X_API_BASE_URL,
                    settings.REQUEST_TIMEOUT,
                    settings.STREAM_SILENCE,
                    settings.STREAM_RULES_EVERY,
                ),
                Margins(settings.STREAM_LATE_BY, settings.STREAM_ACTS_AFTER),
            ),
            log=self.report,
        )

        def end(number: int, _frame: FrameType | None) -> None:
            # A second signal ends it at once; the next start turns the hole into a gap.
            signal.signal(number, signal.SIG_DFL)
            listening.stop.set()

        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, end)
        listening.run()
        self.report("ended")

    def report(self, sentence: str) -> None:
        self.announce(f"stream: {sentence}")
