"""`manage.py poll`: sources polled now, in this process, to the end of the poll."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from trackers import tasks
from trackers.history import by_command
from trackers.ingest.sources import acts
from trackers.ingest.sources.life import claim_poll
from trackers.ingest.sources.models import Source, SourcePoll
from trackers.ingest.sources.status import source_statuses
from trackers.jobs import queue
from trackers.management.pageless import PagelessCommand
from trackers.management.sources import describe_source, find_sources, source_json
from trackers.schedule.durations import spoken
from tweetwatch.command_line import EXIT_USAGE

# What `source` does.
SOURCE_ACTIONS = ("add", "list", "change", "pause", "resume", "remove")
# A longer wait is left to the cluster.
MAX_WAIT = timedelta(seconds=5)


class Command(PagelessCommand):
    help = "Poll sources now, in this process, until the poll is finished."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="+", metavar="ID", help="source ids, from `source list`")
        parser.add_argument("--json", action="store_true", help="print JSON Lines")

    def run_from_argv(self, argv: list[str]) -> None:
        """`poll add …` used to exist: reported here, since its options are no longer ours."""
        if argv[2:3] and argv[2] in SOURCE_ACTIONS:
            self.say(f"Use `manage.py source {argv[2]} …`: `poll` only polls the sources it names.")
            sys.exit(EXIT_USAGE)
        super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        self.poll(find_sources(options["ids"]))

    def poll(self, sources: Sequence[Source]) -> None:
        done = [self.poll_one(source) for source in sources]
        for status in source_statuses(sources, now=timezone.now()):
            self.show(source_json(status), describe_source(status))
        if not any(done):
            sys.exit(1)

    def poll_one(self, source: Source) -> bool:
        """Poll it page by page to the end; return whether it got there."""
        if not source.is_polled or source.paused_at:
            self.say(f"{source} is {'paused' if source.paused_at else 'not polled'}.")
            return False
        acts.poll_now(source, by_command())
        before = source.polled_at
        while source.polled_at == before:
            batch = claim_poll(source.pk)
            if batch is None:
                # A worker is polling it.
                time.sleep(0.2)
            else:
                try:
                    polled = tasks.poll_batch(batch)
                except KeyboardInterrupt:
                    queue.release(batch)
                    raise
                self.say(f"{polled.source}: {polled.outcome}")
            source.refresh_from_db()
            if source.paused_at:
                self.say(f"{source} has been paused.")
                return False
            due_at = SourcePoll.objects.filter(key=source.pk).values_list("due_at", flat=True)
            wait = (due_at.first() or timezone.now()) - timezone.now()
            if batch is not None and source.polled_at == before:
                if wait > MAX_WAIT:
                    whole = timedelta(seconds=round(wait.total_seconds()))
                    self.say(f"{source} waits for {spoken(whole)}.")
                    return False
                time.sleep(max(wait.total_seconds(), 0))
        return True
